"""Expansion of xacro, URDF with properties, macros, conditions and includes (https://wiki.ros.org/xacro).

Expressions are evaluated without running Python of the document. `$(find PACKAGE)` becomes `package://PACKAGE`,
so that a package is needed only where a file in it is read. Environment variables are not read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from posewright.documents import parse_document, read_bounded
from posewright.documents.markup import Element, MarkupRules, read_markup
from posewright.errors import FormatError, MissingExtraError, PosewrightError, escape_unprintable
from posewright.formats.urdf.packages import PACKAGE_SCHEME, PackageFiles
from posewright.robots import Oddity

if TYPE_CHECKING:
    from posewright.formats.urdf.expressions import ExpressionEvaluator

MAX_EXPANDED_ELEMENTS = 50_000
"""Most elements of a description, counted each time that they are expanded."""

_MAX_LEVELS = 80
"""Deepest nesting of elements, macros and included files together."""

_MAX_PROPERTY_LEVELS = 20
"""Longest chain of properties that are defined by others."""

_MAX_FILES = 200
_MAX_INCLUDES = 1000
"""Most files that are read and times that they are included."""

_MAX_TOTAL_BYTES = 1 << 24
_MAX_YAML_BYTES = 1 << 20
_MAX_TEXT_CHARACTERS = 1 << 24
"""Most characters of all texts and attributes together after expressions are replaced with their values."""

_XACRO = "xacro:"
_NAMESPACE = re.compile(r"https?://.*\bros\.org/(?:wiki/)?xacro/?")
_SUBSTITUTION = re.compile(r"\$\$+[{(]|\$\{[^}]*\}|\$\([^)]*\)|[^$]+|\$(?![{($])[^$]*")
"""An escaped `$`, an expression `${...}`, a substitution `$(...)`, or text."""

_PARAMETER = re.compile(
    r"""\s*(?P<name>[^\s:=]+)
    (?:\s*(?P<default>:?=)\s*(?P<forward>\^\|?)?(?P<value>\$\{.*?\}|\$\(.*?\)|(?:'[^']*'|"[^"]*"|[^\s'"])+|))?
    (?:\s+|$)""",
    re.VERBOSE,
)
"""A parameter of a macro: `a`, `a:=1`, `a:='1 2'`, `a:=^` (the caller's property a), `a:=^|1`, `*block`."""

_TRUTHS = {"true": True, "True": True, "false": False, "False": False}
_PATTERN_CHARACTERS = frozenset("*?[")
_RESERVED_TAGS = frozenset({"link", "joint", "material", "transmission", "gazebo", "sensor"})
_OLD_TAGS = frozenset({"include", "macro", "property"})
"""Tags of xacro that were written without a prefix before 2014."""


@dataclass(frozen=True)
class ExpandedRobot:
    """A description without macros.

    Attributes:
        root: its root element; elements know the file and the line that they come from.
        remarks: descriptions of what was left out or assumed.
        missing_includes: the included files that are missing.
    """

    root: Element
    remarks: tuple[Oddity, ...]
    missing_includes: tuple[str, ...]


def uses_xacro(root: Element) -> bool:
    """Return whether a description has macros or expressions."""
    prefixes = _xacro_prefixes(root)
    for element in root.walk():
        prefix, colon, _ = element.name.partition(":")
        if colon and prefix in prefixes:
            return True
        if any("${" in text or "$(" in text for text in (*element.attributes.values(), element.text)):
            return True
    return False


def expand_xacro(root: Element, path: Path, files: PackageFiles) -> ExpandedRobot:
    """Return a description with its macros expanded.

    Files are read only where `files` finds them. An included file that is missing is left out with a remark,
    and so are the macros that nobody defines then.

    Args:
        root: the root element.
        path: its file.
        files: the files that it may name.

    Raises:
        FormatError: an expression cannot be evaluated, a macro is unknown, or the expansion exceeds a limit.
        MissingExtraError: simpleeval is not installed.
    """
    return _XacroExpander(path, files).expand(root)


def describe_oddity(message: str, element: Element, path: Path) -> Oddity:
    """Return a remark at an element's line, which names its file if that is not `path`."""
    if element.path is None or element.path == path:
        return Oddity(message, element.line)
    return Oddity(f"{element.path.name}:{element.line}: {message}")


def _xacro_prefixes(root: Element) -> set[str]:
    """Return the prefixes that a file has for xacro's tags: `xacro`, and those of its namespace."""
    declared = {
        name.removeprefix("xmlns:")
        for name, uri in root.attributes.items()
        if name.startswith("xmlns:") and _NAMESPACE.fullmatch(uri)
    }
    return {_XACRO.rstrip(":"), *declared}


def _with_usual_prefix(element: Element, prefixes: set[str]) -> Element:
    """Return a tree in which xacro's tags and attributes have the prefix `xacro`."""

    def rename(name: str) -> str:
        prefix, colon, local_name = name.partition(":")
        return f"{_XACRO}{local_name}" if colon and prefix in prefixes else name

    return replace(
        element,
        name=rename(element.name),
        attributes={rename(name): value for name, value in element.attributes.items()},
        children=tuple(_with_usual_prefix(child, prefixes) for child in element.children),
    )


@dataclass(frozen=True)
class _Parameter:
    """A parameter of a macro.

    Attributes:
        name: its name; that of a block begins with one or two stars.
        default: the text of its default value; None without one.
        is_forwarded: whether a property of this name at the call comes before the default.
    """

    name: str
    default: str | None = None
    is_forwarded: bool = False

    @property
    def is_block(self) -> bool:
        """Whether its value is an element inside the call."""
        return self.name.startswith("*")


@dataclass(frozen=True)
class _Macro:
    parameters: tuple[_Parameter, ...]
    body: Element


class _Scope(Mapping[str, object]):
    """The properties and macros that are visible at a place.

    Attributes:
        parent: the scope around it; None for that of the description.
        is_namespace: whether it is that of an included file with a namespace, `<xacro:include ns="...">`.
        macros: its own macros by name.
    """

    def __init__(
        self,
        evaluate: Callable[[str, _Scope], object],
        parent: _Scope | None = None,
        *,
        is_namespace: bool = False,
    ) -> None:
        self.parent = parent
        self.is_namespace = is_namespace
        self.macros: dict[str, _Macro] = {}
        self._evaluate = evaluate
        self._values: dict[str, object] = {}
        self._unevaluated: set[str] = set()  # properties whose value is still a text with expressions
        self._in_evaluation: list[str] = []

    def __getitem__(self, name: str) -> object:
        owner = self._find_owner(name)
        if owner is None:
            raise KeyError(name)
        return owner._evaluated(name)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._find_owner(name) is not None

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def _find_owner(self, name: str) -> _Scope | None:
        """Return the innermost scope that has a property."""
        scope: _Scope | None = self
        while scope is not None and name not in scope._values:
            scope = scope.parent
        return scope

    def _evaluated(self, name: str) -> object:
        """Return the value of a property of its own, which is evaluated when it is first used."""
        if name in self._unevaluated:
            if name in self._in_evaluation:
                raise FormatError(f"the property {name} is defined by itself")
            if len(self._in_evaluation) >= _MAX_PROPERTY_LEVELS:
                raise FormatError(
                    f"more than {_MAX_PROPERTY_LEVELS} properties that are defined by each other"
                )
            self._in_evaluation.append(name)
            try:
                self._values[name] = _literal(self._evaluate(str(self._values[name]), self))
            finally:
                self._in_evaluation.pop()
            self._unevaluated.discard(name)
        return self._values[name]

    def set(self, name: str, value: object, *, is_lazy: bool = False) -> None:
        """Set a property of its own; expressions in a lazy one are evaluated when it is first used."""
        value = _literal(value)
        self._values[name] = value
        self._unevaluated.discard(name)
        if is_lazy and isinstance(value, str):
            self._unevaluated.add(name)

    def remove(self, name: str) -> None:
        """Remove a property here and in all scopes around it."""
        scope: _Scope | None = self
        while scope is not None:
            scope._values.pop(name, None)
            scope._unevaluated.discard(name)
            scope = scope.parent

    def inside(self, *, is_namespace: bool = False) -> _Scope:
        """Return a new scope inside this one."""
        return _Scope(self._evaluate, self, is_namespace=is_namespace)

    def outermost(self) -> _Scope:
        """Return the scope of the description."""
        return self if self.parent is None else self.parent.outermost()

    def find_macro(self, name: str) -> tuple[_Macro, _Scope] | None:
        """Return a macro, and the scope in which its own scope is; None if there is no such macro.

        Args:
            name: its name, after those of namespaces and dots.
        """
        scope: _Scope | None = self
        while scope is not None:
            if name in scope.macros:
                return scope.macros[name], self
            scope = None if scope.is_namespace else scope.parent
        namespace_name, dot, name_inside = name.partition(".")
        if not dot or namespace_name not in self:
            return None
        namespace = self[namespace_name]
        return namespace.find_macro(name_inside) if isinstance(namespace, _Scope) else None


def _literal(value: object) -> object:
    """Return the number or truth that a text stands for, a text without its single quotes, or `value`."""
    if not isinstance(value, str):
        return value
    if len(value) >= 2 and value[0] == value[-1] == "'":
        return value[1:-1]
    if "_" in value:  # Python would read 1_000 as a number
        return value
    for convert in (int, float):
        try:
            return convert(value)
        except ValueError:
            continue
    return _TRUTHS.get(value, value)


@dataclass
class _Content:
    """What the inside of an element expands to.

    Attributes:
        children: the elements.
        texts: the texts between them.
        attributes: attributes that `<xacro:attribute>` gives the element.
    """

    children: list[Element] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    attributes: dict[str, str] = field(default_factory=dict)

    def extend(self, other: _Content) -> None:
        """Add what another element expands to, in whose place it stands."""
        self.children += other.children
        self.texts += other.texts
        self.attributes |= other.attributes


class _XacroExpander:
    """Expands one description."""

    def __init__(self, path: Path, files: PackageFiles) -> None:
        self._path = path
        self._files = files
        self._remarks: list[Oddity] = []
        self._arguments: dict[str, str] = {}
        self._roots: dict[Path, Element] = {}  # of the included files
        self._open_paths = [path.resolve()]
        self._open_calls: list[Element] = []
        self._missing_includes: list[str] = []
        self._macro_names: set[str] = set()
        self._n_includes = 0
        self._n_bytes = 0
        self._n_elements = 0
        self._n_characters = 0
        self._level = 0
        self._evaluator: ExpressionEvaluator | None = None
        self._tags: dict[str, Callable[[Element, _Scope, _Content], None]] = {
            "arg": self._add_argument,
            "attribute": self._add_attribute,
            "call": self._call_by_name,
            "element": self._add_named_element,
            "if": self._add_if,
            "include": self._include,
            "insert_block": self._insert_block,
            "macro": self._define_macro,
            "property": self._define_property,
            "unless": self._add_if,
        }

    def expand(self, root: Element) -> ExpandedRobot:
        """Return the description without macros."""
        root = _with_usual_prefix(root, _xacro_prefixes(root))
        expanded = self._expand_element(root, _Scope(self._evaluate_text))
        return ExpandedRobot(expanded, tuple(self._remarks), tuple(self._missing_includes))

    def _note(self, message: str, element: Element) -> None:
        remark = describe_oddity(message, element, self._path)
        if remark not in self._remarks:
            self._remarks.append(remark)

    def _fail(self, element: Element, message: str, hint: str | None = None) -> NoReturn:
        """Raise the error at an element, with the innermost macro that it belongs to."""
        if self._open_calls:
            call = self._open_calls[-1]
            place = f"expanded for <{call.name}> at {call.where}"
            hint = place if hint is None else f"{hint}; {place}"
        element.fail(message, hint)

    def _expand_element(self, element: Element, scope: _Scope) -> Element:
        """Return an element with its attributes evaluated and its content expanded."""
        attributes = {
            name: str(self._evaluate(value, scope, element))
            for name, value in element.attributes.items()
            if not name.startswith(_XACRO) and name != "xmlns:xacro"
        }
        content = self._expand_content(element, scope)
        text = "".join(content.texts).strip()
        return replace(
            element, attributes=attributes | content.attributes, children=tuple(content.children), text=text
        )

    def _expand_content(self, element: Element, scope: _Scope) -> _Content:
        """Return what the inside of an element expands to."""
        if self._level >= _MAX_LEVELS:
            hint = f"at most {_MAX_LEVELS} elements, macros and files inside each other are read"
            self._fail(element, "nested too deep: does a macro call itself without end?", hint)
        content = _Content()
        self._level += 1
        if element.text:
            content.texts.append(str(self._evaluate(element.text, scope, element)))
        for child in element.children:
            self._n_elements += 1
            if self._n_elements > MAX_EXPANDED_ELEMENTS:
                hint = f"at most {MAX_EXPANDED_ELEMENTS:,} are read"
                self._fail(child, "the macros expand to too many elements", hint)
            if not child.name.startswith(_XACRO):
                self._note_old_tag(child, element)
                content.children.append(self._expand_element(child, scope))
                continue
            name = child.name.removeprefix(_XACRO)
            if name in self._tags:
                self._tags[name](child, scope, content)
            else:
                self._call_macro(child, name, scope, content)
        self._level -= 1
        return content

    def _note_old_tag(self, element: Element, parent: Element) -> None:
        """Note a tag at the top that lacks its prefix: one of xacro before 2014, or the name of a macro."""
        is_macro = element.name in self._macro_names and element.name not in _RESERVED_TAGS
        if parent.name == "robot" and (is_macro or element.name in _OLD_TAGS):
            message = f"<{element.name}> is left out: xacro's tags are read as <xacro:{element.name}>"
            self._note(message, element)

    def _evaluate(self, text: str, scope: _Scope, element: Element) -> object:
        """Return a text of an element with its expressions replaced; a single expression keeps its type.

        Raises:
            FormatError: an expression cannot be evaluated.
        """
        with self._located(element):
            return self._evaluate_text(text, scope)

    @contextmanager
    def _located(self, element: Element) -> Iterator[None]:
        """Give an error without a place, which the body raises, the place of an element."""
        try:
            yield
        except FormatError as error:
            if error.where is not None:
                raise
            self._fail(element, error.message, error.hint)

    def _evaluate_text(self, text: str, scope: _Scope) -> object:
        """Return a text with its expressions replaced, as `_evaluate`; its errors have no place."""
        if "$" not in text:
            return text
        values: list[object] = []
        end = 0
        for match in _SUBSTITUTION.finditer(text):
            if match.start() != end:
                break
            end = match.end()
            token = match[0]
            if token.startswith("$$"):
                values.append(token[1:])
            elif token.startswith("${"):
                values.append(self._evaluate_expression(token[2:-1], scope))
            elif token.startswith("$("):
                values.append(self._substitute(str(self._evaluate_text(token[2:-1], scope)), scope))
            else:
                values.append(token)
        if end != len(text):
            raise FormatError(
                f"an expression without an end: {text[end:]!r:.80}",
                hint="write ${...}, $(...), or $${ for ${",
            )
        for value in values:
            self._n_characters += len(value) if isinstance(value, str) else 1
        if self._n_characters > _MAX_TEXT_CHARACTERS:
            raise FormatError(f"its texts expand to more than {_MAX_TEXT_CHARACTERS:,} characters")
        return values[0] if len(values) == 1 else "".join(map(str, values))

    def _evaluate_expression(self, expression: str, scope: _Scope) -> object:
        """Return the value of the expression in `${...}`."""
        if self._evaluator is None:
            self._evaluator = self._create_evaluator()
        try:
            return self._evaluator.evaluate(str(self._evaluate_text(expression, scope)), scope)
        except FormatError as error:
            if error.where is not None:
                raise
            message = f"cannot evaluate ${{{expression[:80]}}}: {error.message}"
            raise FormatError(message, hint=error.hint) from error

    def _create_evaluator(self) -> ExpressionEvaluator:
        """Return the evaluator of expressions; raise MissingExtraError without the library for it."""
        try:
            from posewright.formats.urdf.expressions import ExpressionEvaluator
        except ImportError as error:
            raise MissingExtraError.for_extra("reading xacro", "xacro") from error
        functions: dict[str, Callable[..., object]] = {
            "abs_filename": lambda name: str(self._open_paths[-1].parent / name),
            "arg": self._argument,
            "dotify": dict,
            "error": lambda *_: "",
            "fatal": _raise_fatal_error,
            "load_yaml": self._load_yaml,
            "message": lambda *_: "",
            "tokenize": _tokenize,
            "warning": lambda *_: "",
        }
        return ExpressionEvaluator(functions)

    def _substitute(self, command: str, scope: _Scope) -> str:
        """Return the text for `$(command)`."""
        name, _, rest = command.strip().partition(" ")
        words = rest.split()
        if name == "arg" and len(words) == 1:
            return self._argument(words[0])
        if name == "find" and len(words) == 1:
            return f"{PACKAGE_SCHEME}{words[0]}"
        if name == "dirname" and not words:
            return str(self._open_paths[-1].parent)
        if name == "optenv" and words:
            return " ".join(words[1:])
        if name == "eval" and words:
            arguments = {key: _literal(value) for key, value in self._arguments.items()}
            named_scope = scope.outermost().inside()
            for key, value in arguments.items():
                named_scope.set(key, value)
            return str(self._evaluate_expression(rest, named_scope))
        hint = "write $(arg NAME), $(find PACKAGE), $(dirname), $(optenv NAME DEFAULT) or $(eval EXPRESSION)"
        raise FormatError(f"cannot replace $({command[:80]})", hint=hint)

    def _argument(self, name: str) -> str:
        """Return an argument of the description."""
        if name not in self._arguments:
            hint = f'write <xacro:arg name="{name}" default="..."/> before it'
            raise FormatError(f"the argument {name!r:.80} has no value", hint=hint)
        return self._arguments[name]

    def _load_yaml(self, name: str) -> object:
        """Return the content of a YAML file."""
        path = self._files.find(str(name), self._open_paths[-1].parent)
        if path is None:
            raise FormatError(f"the file {name!s:.200} is missing or outside of the packages")
        text = read_bounded(path, _MAX_YAML_BYTES).decode("utf-8-sig", errors="replace")
        self._count_file(len(text))
        try:
            content: object = parse_document(text, path).value
        except PosewrightError as error:
            raise FormatError(str(error)) from error
        return content

    def _count_file(self, n_bytes: int) -> None:
        """Count a file that is read; raise FormatError if there are too many, or they are too large."""
        self._n_bytes += max(n_bytes, _MAX_TOTAL_BYTES // _MAX_FILES)
        if self._n_bytes > _MAX_TOTAL_BYTES:
            raise FormatError("too many or too large files", hint=f"at most {_MAX_FILES} are read")

    def _truth(self, element: Element, attribute: str, scope: _Scope, default: str | None = None) -> bool:
        """Return whether an attribute is true."""
        text = element.attributes.get(attribute, default)
        value = self._evaluate(element.required(attribute) if text is None else text, scope, element)
        if isinstance(value, str):
            value = _TRUTHS.get(value, value)
        try:
            return bool(int(value)) if isinstance(value, str) else bool(value)
        except ValueError:
            self._fail(element, f"{attribute} is {value!r:.80}", "write a condition that is true or false")

    def _add_argument(self, element: Element, scope: _Scope, _content: _Content) -> None:
        """Give an argument its default value; xacro's command line could give it another one."""
        name = element.required("name")
        if name in self._arguments:
            return
        if "default" not in element.attributes:
            self._note(f"the argument {name:.80} has no default", element)
            return
        value = str(self._evaluate(element.attributes["default"], scope, element))
        self._arguments[name] = value
        self._note(f"the argument {name:.80} has its default, {value!r:.80}", element)

    def _add_attribute(self, element: Element, scope: _Scope, content: _Content) -> None:
        """Give the element around `<xacro:attribute name="..." value="..."/>` that attribute."""
        name = str(self._evaluate(element.required("name"), scope, element))
        content.attributes[name] = str(self._evaluate(element.attributes.get("value", ""), scope, element))

    def _add_named_element(self, element: Element, scope: _Scope, content: _Content) -> None:
        """Add `<xacro:element xacro:name="...">` under the name that this gives."""
        name = str(self._evaluate(element.required("xacro:name"), scope, element))
        content.children.append(self._expand_element(replace(element, name=name), scope))

    def _add_if(self, element: Element, scope: _Scope, content: _Content) -> None:
        """Add the content of `<xacro:if>` if its condition is true, of `<xacro:unless>` if it is false."""
        if self._truth(element, "value", scope) == (element.name == "xacro:if"):
            content.extend(self._expand_content(element, scope))

    def _include(self, element: Element, scope: _Scope, content: _Content) -> None:
        """Add the content of the files that `<xacro:include filename="..."/>` names.

        With the attribute `ns`, macros and properties of these files are in a namespace of that name. A
        missing file is noted and left out.

        Args:
            element: the include.
            scope: the properties and macros that are known at this place.
            content: receives the expanded elements.

        Raises:
            FormatError: a file includes itself, or too many files are included.
        """
        name = str(self._evaluate(element.required("filename"), scope, element))
        paths = self._included_paths(name)
        if not paths:
            if not self._truth(element, "optional", scope, default="false"):
                self._missing_includes.append(name)
                message = f"the included file {name!r:.200} is missing, or outside of its package: left out"
                self._note(message, element)
            return
        inner_scope = scope
        if "ns" in element.attributes:
            inner_scope = scope.inside(is_namespace=True)
            scope.set(str(self._evaluate(element.attributes["ns"], scope, element)), inner_scope)
        for path in paths:
            self._n_includes += 1
            if self._n_includes > _MAX_INCLUDES:
                self._fail(element, "too many included files", f"at most {_MAX_INCLUDES:,} are read")
            if path in self._open_paths:
                self._fail(element, f"{name!r:.200} includes itself")
            with self._located(element):
                root = self._read_root(path)
            self._open_paths.append(path)
            content.extend(self._expand_content(root, inner_scope))
            self._open_paths.pop()

    def _included_paths(self, name: str) -> list[Path]:
        """Return the paths of the files that an include names, which may be a pattern; empty without any."""
        folder = self._open_paths[-1].parent
        plain_path = self._files.find(name, folder)
        if plain_path is not None:
            return [plain_path]
        head, slash, pattern = name.rpartition("/")
        if not _PATTERN_CHARACTERS.intersection(pattern) or name.startswith(PACKAGE_SCHEME):
            return []
        names = sorted(path.name for path in (folder / head).glob(pattern))[:_MAX_FILES]
        paths = (self._files.find(f"{head}{slash}{found_name}", folder) for found_name in names)
        return [path for path in paths if path is not None]

    def _read_root(self, path: Path) -> Element:
        """Return the root element of an included file, which is read once."""
        if path not in self._roots:
            self._count_file(path.stat().st_size)
            root = read_markup(path, MarkupRules(max_bytes=_MAX_TOTAL_BYTES))
            self._roots[path] = _with_usual_prefix(root, _xacro_prefixes(root))
        return self._roots[path]

    def _define_property(self, element: Element, scope: _Scope, _content: _Content) -> None:
        """Set or remove a property; one without a value holds the elements inside its tag."""
        name = str(self._evaluate(element.required("name"), scope, element))
        if not name.isidentifier() or name.startswith("__"):
            self._fail(element, f"no property can be called {name!r:.80}", "write letters, digits and _")
        if self._truth(element, "remove", scope, default="false"):
            scope.remove(name)
            return
        value = element.attributes.get("value")
        if "default" in element.attributes:
            if name in scope:
                return
            value = element.attributes["default"]
        target, is_global_or_parents = self._target_scope(element, scope)
        is_lazy = not is_global_or_parents and self._truth(element, "lazy_eval", scope, default="true")
        if value is None:
            target.set(f"**{name}", element)
        elif is_lazy:
            target.set(name, value, is_lazy=True)
        else:
            target.set(name, self._evaluate(value, scope, element))

    def _target_scope(self, element: Element, scope: _Scope) -> tuple[_Scope, bool]:
        """Return the scope in which a property is set, and whether it is another than that of its place."""
        match element.attributes.get("scope"):
            case "global":
                return scope.outermost(), True
            case "parent" if scope.parent is not None:
                target = scope.parent
                while not scope.is_namespace and target.is_namespace and target.parent is not None:
                    target = target.parent
                return target, True
            case _:
                return scope, False

    def _define_macro(self, element: Element, scope: _Scope, _content: _Content) -> None:
        """Store a macro."""
        name = element.required("name").removeprefix(_XACRO)
        if name in self._tags or "." in name:
            self._fail(element, f"no macro can be called {name!r:.80}")
        text = element.attributes.get("params", "")
        parameters: list[_Parameter] = []
        end = 0
        while text[end:].strip():
            match = _PARAMETER.match(text, end)
            if match is None:
                self._fail(
                    element, f"cannot read the parameter {text[end:].strip()!r:.80}", "write NAME:=DEFAULT"
                )
            end = match.end()
            default = match["value"] or None
            parameters.append(_Parameter(match["name"], default, is_forwarded=match["forward"] is not None))
        scope.macros[name] = _Macro(tuple(parameters), element)
        self._macro_names.add(name)

    def _insert_block(self, element: Element, scope: _Scope, content: _Content) -> None:
        """Add the element of a parameter `*name`, or what is inside that of `**name` or of a property."""
        name = element.required("name")
        block = scope.get(f"**{name}")
        if isinstance(block, Element):
            content.extend(self._expand_content(block, scope))
            return
        block = scope.get(f"*{name}")
        if not isinstance(block, Element):
            self._fail(element, f"there is no block {name!r:.80}", "name a parameter *block of the macro")
        content.children.append(self._expand_element(block, scope))

    def _call_by_name(self, element: Element, scope: _Scope, content: _Content) -> None:
        """Call the macro that an attribute names: `<xacro:call macro="..."/>`."""
        name = str(self._evaluate(element.required("macro"), scope, element)).removeprefix(_XACRO)
        attributes = {key: value for key, value in element.attributes.items() if key != "macro"}
        call = replace(element, name=f"{_XACRO}{name}", attributes=attributes)
        self._call_macro(call, name, scope, content)

    def _call_macro(self, call: Element, name: str, scope: _Scope, content: _Content) -> None:
        """Add what a macro expands to.

        Args:
            call: the element that calls it.
            name: its name.
            scope: the scope of the call, in which its parameters are evaluated.
            content: that to which the expansion is added.

        Raises:
            FormatError: there is no such macro, although all included files were read, or its parameters do
                not fit.
        """
        found = scope.find_macro(name)
        if found is None:
            if self._missing_includes:
                self._note(f"<{call.name}> is left out: its macro is in a file that is missing", call)
                return
            self._fail(call, f"there is no macro {name!r:.80}", "define it with <xacro:macro> before its use")
        macro, outer_scope = found
        inner_scope = outer_scope.inside()
        pending = {parameter.name: parameter for parameter in macro.parameters}
        for key, text in call.attributes.items():
            if key.startswith("xmlns:"):
                continue
            if key not in pending or pending[key].is_block:
                names = ", ".join(pending) or "none"
                self._fail(
                    call, f"the macro {name} has no parameter {key!r:.80}", f"its parameters: {names:.300}"
                )
            del pending[key]
            inner_scope.set(key, self._evaluate(text, scope, call))
        self._set_blocks(call, inner_scope, pending, self._expand_content(call, scope).children)
        for parameter in pending.values():
            inner_scope.set(parameter.name, self._default_value(call, parameter, scope))
        self._open_calls.append(call)
        content.extend(self._expand_content(macro.body, inner_scope))
        self._open_calls.pop()

    def _set_blocks(
        self, call: Element, scope: _Scope, pending: dict[str, _Parameter], blocks: list[Element]
    ) -> None:
        """Give the block parameters of a macro the elements inside its call, in order.

        Args:
            call: the element that calls the macro.
            scope: the scope of the macro.
            pending: the parameters without a value, from which the blocks are removed.
            blocks: the elements.
        """
        block_names = [key for key, parameter in pending.items() if parameter.is_block]
        if len(block_names) != len(blocks):
            message = f"{len(blocks)} elements inside <{call.name}>"
            self._fail(call, message, f"its macro takes {len(block_names)} blocks")
        for block_name, block in zip(block_names, blocks, strict=True):
            del pending[block_name]
            scope.set(block_name, block)

    def _default_value(self, call: Element, parameter: _Parameter, scope: _Scope) -> object:
        """Return the value of a parameter that a call does not give."""
        if parameter.is_forwarded and parameter.name in scope:
            with self._located(call):
                return scope[parameter.name]
        if parameter.default is None:
            self._fail(call, f"the parameter {parameter.name!r:.80} of <{call.name}> has no value")
        return self._evaluate(parameter.default, scope, call)


def _tokenize(text: str, separators: str = ",; ", skip_empty: bool = True) -> list[str]:
    """Return the parts of a text between any of the separators."""
    parts = re.split(f"[{re.escape(separators)}]", text)
    return [part for part in parts if part or not skip_empty]


def _raise_fatal_error(*words: object) -> NoReturn:
    """Raise the error that a document asks for by `xacro.fatal(...)`."""
    raise FormatError(escape_unprintable(" ".join(map(str, words)))[:300])
