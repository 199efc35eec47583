"""From a typed function to the JSON schema and the validator of its arguments."""

from __future__ import annotations

import functools
import inspect
import json
import typing
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

import attrs
import docstring_parser
import pydantic
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from partwise.errors import ToolDefinitionError

from ._context import ToolContext
from ._tool import Validate

__all__ = ["Signature", "description_of", "signature_of"]

_VARIADIC: dict[object, str] = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}


@attrs.frozen(kw_only=True)
class Signature:
    """What a function says about its arguments.

    Attributes:
        parameters: The JSON schema.
        validate: From parsed JSON to keyword arguments.
        context_parameter: The name of the parameter that takes the context, or None.
    """

    parameters: Mapping[str, Any]
    validate: Validate
    context_parameter: str | None


class _Schema(GenerateJsonSchema):
    """Leaves out the titles that pydantic makes up: they cost tokens and say nothing."""

    # A default that is no JSON is simply not shown to the model.
    ignored_warning_kinds = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012 - as pydantic declares it

    def field_title_should_be_set(self, schema: CoreSchema | core_schema.ComputedField | Any) -> bool:
        return False

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        made = super().model_schema(schema)
        if made.get("title") == schema["cls"].__name__:
            del made["title"]
        return made


def signature_of(function: Callable[..., Any], name: str) -> Signature:
    """Read schema and validator off a function's signature and docstring.

    Each parameter needs an annotation that pydantic understands; ``Annotated[..., Field(...)]`` adds
    limits and a description, otherwise the docstring's description of the parameter is taken. A
    parameter annotated ``ToolContext`` is not part of the schema.

    Args:
        function: What will be called, with keyword arguments.
        name: The tool's name, for errors.

    Raises:
        ToolDefinitionError: A parameter cannot be given by name, is not annotated, or has a type
            without a JSON schema.
    """
    hints = _hints(function, name)
    described = _described_parameters(function)
    context_parameter: str | None = None
    fields: dict[str, Any] = {}
    names: dict[str, str] = {}
    for parameter in _parameters(function, name):
        _check(parameter, hints, name)
        annotation = hints[parameter.name]
        if _takes_context(annotation):
            if context_parameter is not None:
                raise ToolDefinitionError(name, "it has two parameters of type ToolContext; one is enough.")
            context_parameter = parameter.name
            continue
        # pydantic reserves names such as "json" or "_x"; the alias is free to be any of them.
        field = f"p{len(names)}"
        names[field] = parameter.name
        fields[field] = (annotation, _field(parameter, annotation, described.get(parameter.name)))
    model, schema = _model(name, fields)
    return Signature(parameters=schema, validate=_validator(model, names), context_parameter=context_parameter)


def description_of(function: Callable[..., Any]) -> str | None:
    """Return the prose of a function's docstring, without the sections on arguments and results."""
    text = inspect.getdoc(_underlying(function))
    if not text:
        return None
    return (_parsed(text).description or "").strip() or None


def _underlying(function: Callable[..., Any]) -> Callable[..., Any]:
    while isinstance(function, functools.partial):
        function = function.func
    return function if inspect.isroutine(function) else type(function).__call__


def _parameters(function: Callable[..., Any], name: str) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError) as cause:
        raise ToolDefinitionError(name, f"it does not tell its parameters ({cause}).") from cause


def _hints(function: Callable[..., Any], name: str) -> dict[str, Any]:
    source = inspect.unwrap(_underlying(function))
    annotations = dict(getattr(source, "__annotations__", {}))
    # What a tool returns is of no concern here, and may be a name for type checkers only.
    annotations.pop("return", None)
    namespace = getattr(source, "__globals__", {})
    try:
        return typing.get_type_hints(SimpleNamespace(__annotations__=annotations), namespace, include_extras=True)
    except Exception as cause:
        why = f"its annotations cannot be resolved ({cause}); use types that its module can name at run time."
        raise ToolDefinitionError(name, why) from cause


def _takes_context(annotation: Any) -> bool:
    return annotation is ToolContext or ToolContext in typing.get_args(annotation)


def _check(parameter: inspect.Parameter, hints: Mapping[str, Any], name: str) -> None:
    stars = _VARIADIC.get(parameter.kind)
    if stars is not None:
        raise ToolDefinitionError(name, f"{stars}{parameter.name} has no schema; name each parameter.")
    if parameter.kind is inspect.Parameter.POSITIONAL_ONLY:
        raise ToolDefinitionError(name, f"parameter {parameter.name!r} is positional-only; arguments come by name.")
    if parameter.name not in hints:
        raise ToolDefinitionError(name, f"parameter {parameter.name!r} has no type annotation.")
    if isinstance(parameter.default, FieldInfo):
        why = f"the default of {parameter.name!r} is a Field; write Annotated[type, Field(...)] and a plain default."
        raise ToolDefinitionError(name, why)


def _field(parameter: inspect.Parameter, annotation: Any, description: str | None) -> Any:
    default = ... if parameter.default is inspect.Parameter.empty else parameter.default
    own = FieldInfo.from_annotation(annotation).description
    if own is not None or description is None:
        return pydantic.Field(default=default, alias=parameter.name)
    return pydantic.Field(default=default, alias=parameter.name, description=description)


def _parsed(text: str) -> docstring_parser.Docstring:
    try:
        return docstring_parser.parse(text, style=docstring_parser.DocstringStyle.AUTO)
    except docstring_parser.ParseError:
        plain = docstring_parser.Docstring()
        plain.short_description = text
        return plain


def _described_parameters(function: Callable[..., Any]) -> dict[str, str]:
    text = inspect.getdoc(_underlying(function))
    if not text:
        return {}
    return {item.arg_name: " ".join(item.description.split()) for item in _parsed(text).params if item.description}


def _model(name: str, fields: Mapping[str, Any]) -> tuple[type[pydantic.BaseModel], Mapping[str, Any]]:
    config = pydantic.ConfigDict(extra="forbid", arbitrary_types_allowed=False, protected_namespaces=())
    try:
        model = pydantic.create_model(name, __config__=config, **fields)
        schema = model.model_json_schema(by_alias=True, schema_generator=_Schema)
    except (pydantic.errors.PydanticUserError, TypeError) as cause:
        reason = str(cause).partition("\n")[0]
        raise ToolDefinitionError(name, f"a parameter has a type without a JSON schema: {reason}") from cause
    return model, schema


def _validator(model: type[pydantic.BaseModel], names: Mapping[str, str]) -> Validate:
    def validate(arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        # Strict on JSON, not on Python values: a date may be a string there, a number may not.
        valid = model.model_validate_json(json.dumps(arguments), strict=True)
        # What was not given is left to the function's own defaults.
        return {names[field]: getattr(valid, field) for field in names if field in valid.model_fields_set}

    return validate
