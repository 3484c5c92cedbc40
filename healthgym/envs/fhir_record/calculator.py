"""Arithmetic for agents: numbers, four operations and five functions, and nothing of Python."""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable
from typing import ClassVar

from healthgym.errors import ToolError

#: What an expression may be made of; checked first, so that Python's parser sees nothing else. A
#: number is never taken apart again: each way to do so would be tried for a long one.
_EXPRESSION = re.compile(
    r"(?:\d++(?:\.\d*+)?+(?:[eE][-+]?\d++)?+|\.\d++|mean|sum|min|max|round|[-+*/(),\s])++"
)

_OPERATORS: dict[type[ast.AST], Callable[..., float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
}


class _Arithmetic:
    """Evaluates the expressions ``calculate`` accepts, and nothing else of Python."""

    functions: ClassVar[dict[str, Callable[..., float]]] = {
        "mean": lambda *values: math.fsum(values) / len(values),
        "sum": lambda *values: math.fsum(values),
        "min": lambda *values: min(values),
        "max": lambda *values: max(values),
        "round": lambda value, digits=0: round(value, int(digits)),
    }

    def run(self, node: ast.AST) -> float:
        if isinstance(node, ast.Expression):
            return self.run(node.body)
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
            return float(node.value)
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            return _OPERATORS[type(node.op)](self.run(node.left), self.run(node.right))
        if isinstance(node, ast.UnaryOp) and type(node.op) in _OPERATORS:
            return _OPERATORS[type(node.op)](self.run(node.operand))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
            function = self.functions.get(node.func.id)
            if function is not None and node.args:
                return function(*(self.run(argument) for argument in node.args))
        raise ValueError("it is not arithmetic")


def evaluate(expression: str) -> str:
    """Return the value of an arithmetic expression, to ten significant digits.

    Raises:
        ToolError: If it is not one.
    """
    if len(expression) > 500:
        raise ToolError("The expression is longer than 500 characters.")
    if not _EXPRESSION.fullmatch(expression):
        raise ToolError(
            "Cannot work that out: only numbers, + - * / ( ), mean, sum, min, max and round are "
            "understood."
        )
    try:
        value = _Arithmetic().run(ast.parse(expression.strip(), mode="eval"))
    except (ValueError, TypeError, SyntaxError, ArithmeticError, RecursionError, MemoryError) as e:
        raise ToolError(f"Cannot work that out: {e}.") from None
    if not math.isfinite(value):
        raise ToolError("The result is not a finite number.")
    return f"{value:.10g}"
