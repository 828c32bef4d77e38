"""Terms over the inputs that a tick assigns to variables: recorded, and compared.

A variable that nothing reads may have too many values to explore. Whether two charts assign the same value to
it is then a question about two terms.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from posewright.charts.expression import (
    Binary,
    Expression,
    Literal,
    Name,
    Operator,
    Tree,
    names_in,
    rewrite,
)
from posewright.charts.machine import Snapshot
from posewright.charts.reachability import (
    ChartStateSpace,
    Domain,
    PathCondition,
    Registers,
    SymbolicCompiler,
    SymbolicFunction,
    SymbolicTick,
    convert_to_register,
    list_assignments,
)
from posewright.charts.types import BoolType, Type, Value


def constant_term(value: Value) -> Expression:
    """Return the term of a constant."""
    return Expression(Literal(value), BoolType())


def term_value(term: Expression) -> Value | None:
    """Return the value of a constant term; None for one that depends on inputs."""
    return term.tree.value if isinstance(term.tree, Literal) else None


def fit_value(value_type: Type, value: Value) -> Value:
    """Return a value as a register of a type stores it; the value may be infinite or NaN."""
    return value_type.clamp(value)  # type: ignore[arg-type]  # the value is of that type


def substitute_terms(term: Expression, trees: Mapping[str, Tree]) -> Expression:
    """Return a term in which names are replaced by trees; a constant if it then has no names left.

    Args:
        term: the term.
        trees: the tree in place of each name; other names stay.
    """

    def substitute(node: Tree) -> Tree | None:
        """Return the tree in place of a name; None for other nodes, which stay as they are."""
        return trees.get(node.name) if isinstance(node, Name) else None

    term = term.with_tree(rewrite(term.tree, substitute))
    return term if names_in(term.tree) else constant_term(term.evaluate({}))


class TermRecorder:
    """Runs symbolic ticks of one chart and records the terms over the inputs that some variables are set to.

    Args:
        state_space: the states of the chart.
        names: the variables that are recorded.

    Attributes:
        domains: the values of every input and event.
        variable_types: the types of the recorded variables.
        types: the types of inputs, events and recorded variables.
        terms: the term last assigned to each variable in the last tick; other variables are missing.
    """

    def __init__(self, state_space: ChartStateSpace, names: Collection[str]) -> None:
        """Wrap the function of every assignment to a recorded variable, so that it records the term."""
        self.domains = state_space.inputs.domains
        self.variable_types = {
            name: value_type
            for name, value_type in state_space.machine.chart.variables.items()
            if name in names
        }
        self.types = {name: domain.value_type for name, domain in self.domains.items()} | self.variable_types
        self.terms: dict[str, Expression] = {}
        # the terms before the action that is being executed, whose assignments are simultaneous
        self._terms_before_action: dict[str, Expression] = {}
        interpreter = state_space.symbolic_interpreter
        recording_functions: dict[int, SymbolicFunction] = {}  # by the identity of the assigned expression
        for action in list_assignments(state_space.machine):
            is_first_of_action = True
            for name, value in action.values.items():
                if name in self.variable_types:
                    recording_functions[id(value)] = self._build_recording_function(
                        name, value, interpreter.functions[id(value)], is_first_of_action=is_first_of_action
                    )
                    is_first_of_action = False
        self._interpreter = interpreter.with_functions(recording_functions)

    def run_tick(self, state: Snapshot, path: PathCondition) -> SymbolicTick:
        """Run one tick along a path."""
        self.terms = {}
        return self._interpreter.run_tick(state, path)

    def _build_recording_function(
        self, name: str, expression: Expression, evaluate: SymbolicFunction, *, is_first_of_action: bool
    ) -> SymbolicFunction:
        """Return a function that evaluates an assigned expression and records its term.

        A term is the expression written over the inputs of the tick. A register is a variable whose exact
        value the exploration knows before the tick; the recorded variables are not among them.

        Args:
            name: the name of the variable.
            expression: the expression assigned to it.
            evaluate: a function that evaluates the expression.
            is_first_of_action: whether it is the first of the recorded variables that one action sets.
        """
        register_names = [
            read_name
            for read_name in expression.names
            if read_name not in self.domains and read_name not in self.variable_types
        ]
        reads_registers_only = len(register_names) == len(expression.names)
        reads_recorded_variable = not expression.names.isdisjoint(self.variable_types)
        variable_type = self.variable_types[name]
        constant_term_by_value: dict[Value, Expression] = {}
        term_by_register_values: dict[tuple[Value, ...], Expression] = {}

        def find_or_build_term(value: Value, registers: Registers) -> Expression:
            """Return the term of the assigned expression, from a cache where it was built before.

            Args:
                value: the value of the expression in this tick.
                registers: the values of the registers before the tick, by name.
            """
            if reads_registers_only:  # no inputs: the term is the value, as the variable will store it
                if value not in constant_term_by_value:
                    constant_term_by_value[value] = constant_term(fit_value(variable_type, value))
                return constant_term_by_value[value]
            register_values = {register: registers[register] for register in register_names}
            if reads_recorded_variable:  # its own term, which is put in, differs from tick to tick: no cache
                return self._build_term(expression, register_values)
            cache_key = tuple(register_values.values())  # inputs stay names, so only the registers matter
            if cache_key not in term_by_register_values:
                term_by_register_values[cache_key] = self._build_term(expression, register_values)
            return term_by_register_values[cache_key]

        def evaluate_and_record(registers: Registers, path: PathCondition) -> Value:
            """Return the value of the expression, and store its term in `self.terms`."""
            if is_first_of_action:
                self._terms_before_action = dict(self.terms)
            value = evaluate(registers, path)
            self.terms[name] = find_or_build_term(value, registers)
            return value

        return evaluate_and_record

    def _build_term(self, expression: Expression, register_values: Mapping[str, Value]) -> Expression:
        """Return an expression as a term over the inputs: with all other names replaced.

        Registers and constants are replaced by their values, recorded variables by the terms that earlier
        actions of the tick have assigned to them, as the variables store them.

        Args:
            expression: the expression.
            register_values: the values of the registers that it reads, by name.
        """
        known_values = {**expression.constant_values, **register_values}
        trees: dict[str, Tree] = {name: Literal(value) for name, value in known_values.items()}
        for name, term in self._terms_before_action.items():
            trees[name] = convert_to_register(self.variable_types[name], term, self.types)
        return substitute_terms(expression, trees)


class TermComparison:
    """Decides on a path whether two terms differ once a register stores them.

    Args:
        domains: the values of every input.
        variable_types: the types of the registers.
    """

    def __init__(self, domains: Mapping[str, Domain], variable_types: Mapping[str, Type]) -> None:
        self.types = {name: domain.value_type for name, domain in domains.items()}
        self.compiler = SymbolicCompiler(domains, self.types)
        self.variable_types = variable_types
        self._comparisons: dict[tuple[str, Expression, Expression], SymbolicFunction] = {}

    def differ(self, name: str, first: Expression, second: Expression, path: PathCondition) -> bool:
        """Return whether two terms over the inputs differ once a variable stores them.

        Args:
            name: the variable, whose type decides how values are clamped and rounded.
            first: its term in the first chart.
            second: its term in the second chart.
            path: the inputs; where the answer depends on them, it is restricted to those with this answer.
        """
        if first == second:
            return False
        first_value = term_value(first)
        second_value = term_value(second)
        value_type = self.variable_types[name]
        if first_value is not None and second_value is not None:
            return fit_value(value_type, first_value) != fit_value(value_type, second_value)
        cache_key = (name, first, second)
        if cache_key not in self._comparisons:
            first_tree = convert_to_register(value_type, first, self.types)
            second_tree = convert_to_register(value_type, second, self.types)
            source = (first if names_in(first.tree) else second).source  # for messages; a constant has none
            is_unequal = Expression(Binary(Operator.UNEQUAL, first_tree, second_tree), BoolType(), source)
            self._comparisons[cache_key] = self.compiler.compile_condition(is_unequal)
        are_unequal = self._comparisons[cache_key]
        return bool(are_unequal({}, path))  # the terms read no registers


def have_same_terms(first: Mapping[str, Expression], second: Mapping[str, Expression]) -> bool:
    """Return whether two ticks set the same variables to terms with the same syntax tree."""
    if first.keys() != second.keys():
        return False
    return all(term.tree == second[name].tree for name, term in first.items())
