"""What a compiled module and its stub declare to Python, in one form for both.

Sources are read by Cython's own parser: what a compiled class takes cannot be asked of
the class itself.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ANY = "..."
# What `cpdef enum` makes for Python.
ENUM = "IntEnum"


@dataclass(frozen=True)
class Parameter:
    name: str
    kind: str  # "", "keyword", "*" or "**"
    default: str | None  # as it is written; `...` in a stub stands for any

    def agrees_with(self, stub: Parameter) -> bool:
        if (self.name, self.kind) != (stub.name, stub.kind):
            return False
        if stub.default == ANY:
            return self.default is not None
        return _value(self.default) == _value(stub.default)

    def __str__(self) -> str:
        stars = self.kind if self.kind != "keyword" else ""
        default = "" if self.default is None else f"={self.default}"
        return f"{stars}{self.name}{default}" + (
            " (keyword)" if self.kind == "keyword" else ""
        )


def _value(default: str | None) -> object:
    """Return what a default means, so that 1e9 and 1000000000.0 are the same."""
    try:
        return None if default is None else (ast.literal_eval(default),)
    except (SyntaxError, ValueError):
        return default


@dataclass
class Declared:
    """The public names of a module or a class."""

    functions: dict[str, list[Parameter]] = field(default_factory=dict)
    attributes: set[str] = field(default_factory=set)
    classes: dict[str, Declared] = field(default_factory=dict)
    base: str | None = None


def is_public(name: str) -> bool:
    return not name.startswith("_") or name in ("__init__", "__call__", "__len__")


# Stubs.


def read_stub(source: str) -> Declared:
    return _stub_names(ast.parse(source).body)


def _stub_names(body: list[ast.stmt]) -> Declared:
    found = Declared()
    for statement in body:
        if isinstance(statement, ast.FunctionDef) and is_public(statement.name):
            if any(ast.unparse(d) == "property" for d in statement.decorator_list):
                found.attributes.add(statement.name)
            else:
                found.functions[statement.name] = _stub_parameters(statement.args)
        elif isinstance(statement, ast.ClassDef) and is_public(statement.name):
            inner = _stub_names(statement.body)
            if statement.bases:
                inner.base = ast.unparse(statement.bases[0])
            if inner.base == ENUM:
                members = [s for s in statement.body if isinstance(s, ast.Assign)]
                inner.attributes = {ast.unparse(s.targets[0]) for s in members}
            found.classes[statement.name] = inner
        elif isinstance(statement, ast.AnnAssign):
            name = ast.unparse(statement.target)
            # `Codes: TypeAlias = ...` is a name for annotations; nothing has it.
            is_alias = "TypeAlias" in ast.unparse(statement.annotation)
            found.attributes |= {name} if is_public(name) and not is_alias else set()
    return found


def _stub_parameters(given: ast.arguments) -> list[Parameter]:
    plain = given.posonlyargs + given.args
    missing = [None] * (len(plain) - len(given.defaults))
    found = [
        Parameter(p.arg, "", default and ast.unparse(default))
        for p, default in zip(plain, missing + given.defaults, strict=True)
    ]
    if given.vararg:
        found.append(Parameter(given.vararg.arg, "*", None))
    found += [
        Parameter(p.arg, "keyword", default and ast.unparse(default))
        for p, default in zip(given.kwonlyargs, given.kw_defaults, strict=True)
    ]
    if given.kwarg:
        found.append(Parameter(given.kwarg.arg, "**", None))
    return found


# Cython.


def read_cython(path: Path) -> Declared:
    """Return what a .pyx file declares, with what its .pxd adds to its classes."""
    found = _cython_names(_statements(parse_cython(path)))
    declarations = path.with_suffix(".pxd")
    if declarations.exists():
        inside = _cython_names(_statements(parse_cython(declarations)))
        for name, declared in inside.classes.items():
            if declared.base == ENUM:
                found.classes[name] = declared
            elif name in found.classes:
                found.classes[name].attributes |= declared.attributes
                found.classes[name].base = found.classes[name].base or declared.base
    return found


def parse_cython(path: Path) -> Any:
    """Return Cython's tree of a file."""
    from Cython.Compiler import Errors, Main, Options
    from Cython.Compiler.Scanning import FileSourceDescriptor

    is_pxd = path.suffix == ".pxd"
    options = Options.CompilationOptions(Options.default_options, language_level=3)
    context = Main.Context.from_options(options)
    Errors.init_thread()
    scope = context.find_module("declarations", need_pxd=False)
    source = FileSourceDescriptor(str(path), path.name)
    tree = context.parse(source, scope, pxd=is_pxd, full_module_name="declarations")
    # For a .pxd it is a pair: the tree and the scope.
    return tree[0] if isinstance(tree, tuple) else tree.body


def _statements(tree: Any) -> Iterator[Any]:
    """Yield statements, those inside groups such as `cdef:` and `with` included."""
    from Cython.Compiler import Nodes

    if isinstance(tree, Nodes.StatListNode):
        for statement in tree.stats:
            yield from _statements(statement)
    elif isinstance(tree, Nodes.CompilerDirectivesNode):
        yield from _statements(tree.body)
    elif tree is not None:
        yield tree


def _cython_names(statements: Iterator[Any]) -> Declared:
    from Cython.Compiler import Nodes

    found = Declared()
    for node in statements:
        if isinstance(node, Nodes.DefNode):
            decorators = [d.decorator.name for d in node.decorators or ()]
            if decorators == ["property"]:
                found.attributes.add(node.name)
            else:
                found.functions[node.name] = _cython_parameters(node)
        elif isinstance(node, Nodes.CFuncDefNode) and node.overridable:
            name = node.declarator.base.name
            found.functions[name] = _cython_arguments(node.declarator.args)
        elif isinstance(node, Nodes.CClassDefNode):
            found.classes[node.class_name] = _cython_class(node)
        elif isinstance(node, Nodes.PyClassDefNode):
            found.classes[node.name] = _python_class(node)
        elif isinstance(node, Nodes.CEnumDefNode) and node.create_wrapper:
            members = {item.name for item in node.items}
            found.classes[node.name] = Declared(attributes=members, base=ENUM)
        elif isinstance(node, Nodes.CVarDefNode):
            is_seen = node.visibility in ("public", "readonly")
            found.attributes |= {_name_of(d) for d in node.declarators if is_seen}
        elif isinstance(node, Nodes.SingleAssignmentNode):
            is_import = type(node.rhs).__name__ == "ImportNode"
            if hasattr(node.lhs, "name") and not is_import:
                found.attributes.add(node.lhs.name)
    found.functions = {k: v for k, v in found.functions.items() if _is_kept(k)}
    found.attributes = {name for name in found.attributes if is_public(name)}
    return found


def _is_kept(name: str) -> bool:
    return is_public(name) or name == "__cinit__"


def _cython_class(node: Any) -> Declared:
    inside = _cython_names(_statements(node.body))
    # `__cinit__` takes what the caller gives, if no `__init__` does.
    taken = inside.functions.pop("__cinit__", None)
    if taken is not None:
        inside.functions.setdefault("__init__", taken)
    bases = node.bases.args if node.bases is not None else []
    inside.base = bases[0].name if bases else None
    return inside


def _python_class(node: Any) -> Declared:
    """Return what a plain class declares, with what its `__init__` sets."""
    from Cython.Compiler import Nodes

    inside = _cython_names(_statements(node.body))
    for method in _statements(node.body):
        if isinstance(method, Nodes.DefNode) and method.name == "__init__":
            for line in _statements(method.body):
                if type(getattr(line, "lhs", None)).__name__ == "AttributeNode":
                    inside.attributes.add(line.lhs.attribute)
    return inside


def _cython_parameters(node: Any) -> list[Parameter]:
    found = _cython_arguments(node.args)
    plain = [p for p in found if p.kind == ""]
    if node.star_arg:
        plain.append(Parameter(node.star_arg.name, "*", None))
    keywords = [p for p in found if p.kind == "keyword"]
    if node.starstar_arg:
        keywords.append(Parameter(node.starstar_arg.name, "**", None))
    return plain + keywords


def _cython_arguments(arguments: list[Any]) -> list[Parameter]:
    return [
        Parameter(
            # `def f(a)`: the one word may be a type or a name; Cython decides later.
            _name_of(argument.declarator) or argument.base_type.name,
            "keyword" if argument.kw_only else "",
            _text_of(argument.default),
        )
        for argument in arguments
    ]


def _name_of(declarator: Any) -> str:
    while not hasattr(declarator, "name"):
        declarator = declarator.base
    return str(declarator.name)


def _text_of(default: Any) -> str | None:
    """Return a default as it would be written; only plain ones occur in signatures."""
    if default is None:
        return None
    kind = type(default).__name__
    if kind == "NoneNode":
        return "None"
    if kind == "BoolNode":
        return str(bool(default.value))
    if kind in ("UnicodeNode", "StringNode"):
        return repr(str(default.value))
    if kind == "UnaryMinusNode":
        return f"-{_text_of(default.operand)}"
    if kind == "NameNode":
        return str(default.name)
    if kind == "TupleNode":
        items = [str(_text_of(item)) for item in default.args]
        return f"({', '.join(items)}{',' if len(items) == 1 else ''})"
    # Anything worked out, such as a call, is `...` in a stub.
    return str(getattr(default, "value", "<worked out>"))
