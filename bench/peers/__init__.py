"""The peers of the fan-out race: those in Python come with partwise, those on node live here."""
