"""Small changes of a source file, each of which makes a mutant.

A change replaces one operator, comparison, number, truth value or function name by another, negates a condition, drops
a sign, or leaves out a statement. Text, annotations, decorators and what is raised are left as they are: a changed
word is no mistake of mathematics, and a changed key fails at once, which would flatter the score. So are plain numbers
that a module or a class gives a name: tolerances, sizes, priors. Another value is another choice, not a mistake.
"""

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

Change = Callable[[Any, ast.Module], str]
"""Changes a node in its tree, and gives the new text."""

BINARY: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.Pow: ast.Mult,
    ast.FloorDiv: ast.Div,
    ast.Mod: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
"""Each operator and what replaces it, also in `a += b`."""
COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
"""Each comparison and what replaces it."""
OPPOSITES = (("min", "max"), ("minimum", "maximum"), ("argmin", "argmax"), ("any", "all"), ("sin", "cos"))
"""Functions that take each other's place."""
RENAMED = dict(OPPOSITES) | {second: first for first, second in OPPOSITES}


@dataclass(frozen=True)
class Mutant:
    """One change of a file."""

    source: str
    """The file before the change."""
    first: int
    """First line of the statement that is changed, counted from 1."""
    last: int
    """Last line of that statement, or of the head of a compound one."""
    top: bool
    """Whether the statement runs on import: it stands outside every function."""
    line: int
    """The line of the change."""
    before: str
    """The text that is changed."""
    place: int
    """Number of the changed node, in the order of `ast.walk`."""
    change: Change
    """Changes the node in its tree, and gives the new text."""

    @property
    def text(self) -> str:
        """The line of the change, without its margin."""
        return self.source.splitlines()[self.line - 1].strip()

    def made(self) -> tuple[ast.Module, str]:
        """The changed file, and the new text of what was changed."""
        tree = ast.parse(self.source)
        node = next(islice(ast.walk(tree), self.place, None))
        after = self.change(node, tree)
        return ast.fix_missing_locations(tree), after


def mutants(source: str) -> list[Mutant]:
    """All mutants of a file, in the order of their lines."""
    tree = ast.parse(source)
    places = {id(node): i for i, node in enumerate(ast.walk(tree))}
    found = []
    for statement, inside in _statements(tree):
        if isinstance(statement, ast.Raise | ast.Import | ast.ImportFrom | ast.Assert):
            continue
        own = list(_own_nodes(statement))
        last = max((node.end_lineno or 0 for node in own if isinstance(node, ast.expr)), default=0)
        lines = statement.lineno, max(last, statement.lineno)
        found += [
            Mutant(source, *lines, not inside, getattr(node, "lineno", lines[0]), _text(node), places[id(node)], change)
            for node in [statement, *own]
            if inside or not _is_choice(statement, node)
            for change in _changes(node)
        ]
    return sorted(found, key=lambda one: (one.line, one.place))


def _statements(tree: ast.AST, inside: bool = False) -> Iterator[tuple[ast.stmt, bool]]:
    """Every statement, and whether it stands in a function."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.stmt):
            yield node, inside
        yield from _statements(node, inside or isinstance(node, ast.FunctionDef | ast.Lambda))


def _is_choice(statement: ast.stmt, node: ast.AST) -> bool:
    """Whether a node is a number that an assignment gives a name, and no part of a formula."""
    if not isinstance(statement, ast.Assign | ast.AnnAssign) or not isinstance(node, ast.Constant):
        return False
    formulas = [one for one in ast.walk(statement) if isinstance(one, ast.BinOp | ast.Compare)]
    return not isinstance(node.value, bool) and all(node is not part for one in formulas for part in ast.walk(one))


def _own_nodes(statement: ast.stmt) -> Iterator[ast.AST]:
    """The expressions of a statement without those of the statements inside it, its annotations and decorators."""
    skipped = {"body", "orelse", "finalbody", "handlers", "annotation", "returns", "decorator_list", "cases"}
    pending = [child for name, child in _fields(statement) if name not in skipped]
    while pending:
        node = pending.pop(0)
        yield node
        if not isinstance(node, ast.JoinedStr):
            pending += [child for name, child in _fields(node) if name != "annotation"]


def _fields(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    for name, value in ast.iter_fields(node):
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, ast.AST):
                yield name, one


def _changes(node: ast.AST) -> Iterator[Change]:
    """Functions that change a copy of the node in its tree, and give the changed text."""
    match node:
        case ast.BinOp(op=op) | ast.AugAssign(op=op) if type(op) in BINARY and not _is_text(node):
            yield _operator
        case ast.Compare(ops=ops):
            yield from (_comparison(i) for i, op in enumerate(ops) if type(op) in COMPARED)
        case ast.BoolOp():
            yield _either
        case ast.UnaryOp(op=ast.USub() | ast.Not()):
            yield _without_sign
        case ast.Constant(value=bool() | int() | float()):
            yield _number
        case ast.Name(id=name) | ast.Attribute(attr=name) if name in RENAMED:
            yield _renamed
        case ast.If() | ast.IfExp() | ast.While() if not isinstance(node.test, ast.Compare | ast.UnaryOp):
            yield _negated
        case ast.Break() | ast.Continue():
            yield _left
        case ast.Expr(value=ast.Call()):
            yield _left_out


def _is_text(node: ast.AST) -> bool:
    """Whether an operand is text."""
    return any(
        isinstance(one, ast.JoinedStr) or (isinstance(one, ast.Constant) and isinstance(one.value, str))
        for one in ast.iter_child_nodes(node)
    )


def _operator(node: Any, tree: ast.Module) -> str:
    node.op = BINARY[type(node.op)]()
    return _text(node)


def _comparison(i: int) -> Change:
    def change(node: Any, tree: ast.Module) -> str:
        node.ops[i] = COMPARED[type(node.ops[i])]()
        return _text(node)

    return change


def _either(node: Any, tree: ast.Module) -> str:
    node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    return _text(node)


def _without_sign(node: Any, tree: ast.Module) -> str:
    return _replace(tree, node, node.operand)


def _number(node: Any, tree: ast.Module) -> str:
    node.value = not node.value if isinstance(node.value, bool) else node.value + 1
    return _text(node)


def _renamed(node: Any, tree: ast.Module) -> str:
    name = "id" if isinstance(node, ast.Name) else "attr"
    setattr(node, name, RENAMED[getattr(node, name)])
    return _text(node)


def _negated(node: Any, tree: ast.Module) -> str:
    node.test = ast.copy_location(ast.UnaryOp(ast.Not(), node.test), node.test)
    return _text(node)


def _left(node: Any, tree: ast.Module) -> str:
    other = ast.Continue() if isinstance(node, ast.Break) else ast.Break()
    return _replace(tree, node, other)


def _left_out(node: Any, tree: ast.Module) -> str:
    return _replace(tree, node, ast.Pass())


def _replace(tree: ast.Module, old: ast.AST, new: ast.AST) -> str:
    """Put a node in the place of another."""
    ast.copy_location(new, old)
    for parent in ast.walk(tree):
        for name, value in ast.iter_fields(parent):
            if value is old:
                setattr(parent, name, new)
            elif isinstance(value, list) and any(one is old for one in value):
                value[[one is old for one in value].index(True)] = new
    return _text(new)


def _text(node: ast.AST) -> str:
    """The source of a node in one line; of a compound statement its head."""
    return ast.unparse(node).splitlines()[0]
