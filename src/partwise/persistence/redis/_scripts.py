"""What runs inside of Redis: each script is one step that nothing can come between.

A stream has three keys in one slot: a hash with its state, a Redis stream with its chunks, named after the
edition, and a string that lives as long as the lease. Chunk `n` is the entry `n-0`; the end of the stream
is an entry, too, which wakes who waits and says how it ended: `n-1`, or `n-2` when it was deleted.
"""

from __future__ import annotations

from typing import Final

__all__ = ["ACQUIRE", "APPEND", "DELETE", "FINALIZE", "RENEW", "STATE", "TRIM"]

# KEYS: state, lease, chunks of the caller's edition. ARGV[1]: its token.
_COMMON: Final = """
local function chunks_key(token) return KEYS[1] .. ':' .. token end
local function close(token, status, code, text)
  local n = redis.call('HGET', KEYS[1], 'n')
  local ttl = redis.call('HGET', KEYS[1], 'ttl')
  redis.call('HSET', KEYS[1], 'status', status, 'code', code, 'text', text)
  redis.call('XADD', chunks_key(token), n .. '-1', 'status', status, 'code', code, 'text', text)
  redis.call('PEXPIRE', KEYS[1], ttl)
  redis.call('PEXPIRE', chunks_key(token), ttl)
  redis.call('DEL', KEYS[2])
end
local function judge(abandoned)
  local m = redis.call('HMGET', KEYS[1], 'token', 'status')
  if m[1] and m[2] == 'streaming' and redis.call('EXISTS', KEYS[2]) == 0 then
    close(m[1], 'error', 'abandoned', abandoned)
  end
end
local function writable(token, abandoned)
  judge(abandoned)
  local m = redis.call('HMGET', KEYS[1], 'token', 'status', 'code')
  if not m[1] then return 'missing' end
  if m[1] ~= token then return 'superseded' end
  if m[2] ~= 'streaming' then return m[3] == 'abandoned' and 'abandoned' or 'finalized' end
  return 'ok'
end
"""

# ARGV: token, ttl, lease. Returns the token of the edition that is there now.
ACQUIRE: Final = """
local known = redis.call('HGET', KEYS[1], 'token')
if known then return known end
redis.call('HSET', KEYS[1], 'token', ARGV[1], 'status', 'streaming', 'code', '', 'text', '',
  'n', 0, 'size', 0, 'ttl', ARGV[2], 'lease', ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
redis.call('SET', KEYS[2], ARGV[1], 'PX', ARGV[3])
return ARGV[1]
"""

# ARGV: token, text for an abandoned stream, index, data, limit of chunks, limit of bytes (-1: none).
# Returns {answer, chunks, bytes}.
APPEND: Final = (
    _COMMON
    + """
local answer = writable(ARGV[1], ARGV[2])
if answer ~= 'ok' then return {answer, 0, 0} end
local m = redis.call('HMGET', KEYS[1], 'n', 'size', 'ttl', 'lease')
local n, size, index = tonumber(m[1]), tonumber(m[2]), tonumber(ARGV[3])
if index <= n then return {'ok', n, size} end
if index ~= n + 1 then return {'gap', n, size} end
local entries, bytes = tonumber(ARGV[5]), tonumber(ARGV[6])
if (entries >= 0 and n >= entries) or (bytes >= 0 and size + #ARGV[4] > bytes) then return {'limit', n, size} end
redis.call('XADD', chunks_key(ARGV[1]), index .. '-0', 'd', ARGV[4])
redis.call('HSET', KEYS[1], 'n', index, 'size', size + #ARGV[4])
redis.call('PEXPIRE', KEYS[1], m[3])
redis.call('PEXPIRE', chunks_key(ARGV[1]), m[3])
redis.call('SET', KEYS[2], ARGV[1], 'PX', m[4])
return {'ok', index, size}
"""
)

# ARGV: token, text for an abandoned stream.
RENEW: Final = (
    _COMMON
    + """
local answer = writable(ARGV[1], ARGV[2])
if answer == 'ok' then redis.call('SET', KEYS[2], ARGV[1], 'PX', redis.call('HGET', KEYS[1], 'lease')) end
return answer
"""
)

# ARGV: token, text for an abandoned stream, status, code, text.
FINALIZE: Final = (
    _COMMON
    + """
local answer = writable(ARGV[1], ARGV[2])
if answer == 'ok' then
  close(ARGV[1], ARGV[3], ARGV[4], ARGV[5])
elseif answer == 'finalized' then
  local m = redis.call('HMGET', KEYS[1], 'status', 'code', 'text')
  if m[1] == ARGV[3] and m[2] == ARGV[4] and m[3] == ARGV[5] then return 'ok' end
end
return answer
"""
)

# ARGV: -, text for an abandoned stream. Returns {token, status, chunks, life left, lease left}, or {}.
STATE: Final = (
    _COMMON
    + """
judge(ARGV[2])
local m = redis.call('HMGET', KEYS[1], 'token', 'status', 'n')
if not m[1] then return {} end
return {m[1], m[2], m[3], redis.call('PTTL', KEYS[1]), redis.call('PTTL', KEYS[2])}
"""
)

# ARGV: milliseconds for which readers that were not waiting can still see that it was deleted.
DELETE: Final = """
local m = redis.call('HMGET', KEYS[1], 'token', 'n')
if not m[1] then return 0 end
local chunks = KEYS[1] .. ':' .. m[1]
redis.call('XADD', chunks, m[2] .. '-2', 'x', '1')
redis.call('XTRIM', chunks, 'MAXLEN', 1)
redis.call('PEXPIRE', chunks, ARGV[1])
redis.call('DEL', KEYS[1], KEYS[2])
return 1
"""

# ARGV: how many chunks stay.
TRIM: Final = """
local m = redis.call('HMGET', KEYS[1], 'token', 'status')
if not m[1] then return 0 end
local keep = tonumber(ARGV[1])
if m[2] ~= 'streaming' then keep = keep + 1 end
return redis.call('XTRIM', KEYS[1] .. ':' .. m[1], 'MAXLEN', keep)
"""
