"""C of one microstep of a chart with regions: transitions of several regions are taken together.

The order is that of the interpreter (`MicrostepPlanner`): all guards first; then states are left, inner and
later ones first; then the actions of the transitions; then states are entered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain

from posewright.charts.machine.node import CompoundTransition, StateNode
from posewright.codegen.c.code import ChartCode, GuardedTransition
from posewright.codegen.c.names import take_unused
from posewright.codegen.c.region_effects import ExitFunctions, Footprint, RegionEffects
from posewright.codegen.c.region_tree import Region, RegionTree
from posewright.codegen.c.values import join_conditions, number_condition
from posewright.codegen.c.writer import CWriter, comment


@dataclass(eq=False)
class _Phase:
    """What the transitions of a region do in one phase of a microstep, or in several that follow each other.

    Attributes:
        region: the region.
        lines: the lines by the number of the transition in its region, without transitions that have none.
        footprint: what the lines read and write.
        overtakers: phases of outer regions whose actions come first where a state before this region leaves
            the choice to them.
        is_deferred: whether it overtakes another phase, so that a local variable says if it is still due.
    """

    region: Region
    lines: dict[int, CWriter]
    footprint: Footprint
    overtakers: list[_Phase] = field(default_factory=list)
    is_deferred: bool = False


@dataclass
class RegionMicrostep:
    """Writes the function of a microstep.

    The transitions of each region are numbered from 1; 0 means that the region takes none.

    Attributes:
        code: writes names, actions and counters.
        tree: the regions of the chart.
        exit_functions: the functions for exits that several transitions have in common.
        function_names: names of functions that choose transitions, which new ones must differ from.
        name: the name of the function.
        event: the event of the transitions; None for those without one.
        regions: the regions with such transitions, each after those inside it.
        transitions_of_region: their transitions, each at the index that is its number minus 1.
        effects: writes what transitions do: exits, actions, entries.
        choice_functions: the name of the function that chooses the transition of each region.
        preempted_conditions: for each region whose transition may be preempted, the condition in C that it
            is.
    """

    code: ChartCode
    tree: RegionTree
    exit_functions: ExitFunctions
    function_names: set[str]
    name: str
    event: str | None
    regions: list[Region] = field(init=False)
    transitions_of_region: dict[Region, list[CompoundTransition]] = field(init=False)
    effects: RegionEffects = field(init=False)
    choice_functions: dict[Region, str] = field(init=False, default_factory=dict)
    preempted_conditions: dict[Region, str] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        """Find the regions with transitions on the event, and number the transitions."""
        self.transitions_of_region = {}
        for region in self.tree.inner_first(self.tree.regions):
            transitions = [transition for node in region.nodes for transition in self._transitions_of(node)]
            if transitions:  # those of one domain get neighbouring numbers, which makes conditions short
                self.transitions_of_region[region] = sorted(transitions, key=_domain_number)
        self.regions = list(self.transitions_of_region)
        self._domains_of_region = {
            region: {transition.domain for transition in transitions if transition.domain is not None}
            for region, transitions in self.transitions_of_region.items()
        }
        self.effects = RegionEffects(
            self.code, self.tree, self.exit_functions, list(chain(*self.transitions_of_region.values()))
        )
        prefix = self.code.names.prefix
        self.parameters = f"{prefix}_t *chart, const {prefix}_inputs_t *in"

    def _transitions_of(self, node: StateNode) -> list[CompoundTransition]:
        """Return a node's transitions on the event."""
        return [transition for transition in node.transitions if self.event in (transition.events or (None,))]

    def write(self) -> None:
        """Write the function, and before it those for common exits and for choices of several regions."""
        self.effects.write_exit_functions()
        if len(self.regions) == 1:
            self._write_one_region()
        else:
            for region in self.regions:
                stem = f"choose{self._suffix(region)}_{self.name}"
                self.choice_functions[region] = take_unused(stem, self.function_names)
                self._write_choice_function(region)
            self._write_several_regions()

    def _write_one_region(self) -> None:
        """Write the function for transitions of one region, which are taken where they are chosen."""

        def write_taken(transition: CompoundTransition) -> None:
            self.effects.write_exits(transition)
            self.code.write_actions(transition.do)
            self.effects.write_entries(transition)
            self.effects.write_commit([transition])
            self.code.writer.line("return true;")

        with self.code.function(f"static bool {self.name}({self.parameters})") as writer:
            self.effects.write_copies()
            self._write_choice(self.regions[0], write_taken)
            writer.line("return false;")

    # The choice of transitions

    def _suffix(self, region: Region) -> str:
        """Return the end of the names that belong to a region."""
        return self.code.names.region_suffixes[region.root.index]

    def _taken_variable(self, region: Region) -> str:
        """Return the local variable of C with the number of the transition that a region takes."""
        return f"taken{self._suffix(region)}"

    @property
    def _number_type(self) -> str:
        """The type in C of a transition's number."""
        return "uint8_t" if max(map(len, self.transitions_of_region.values())) < 255 else "uint16_t"

    def _write_choice_function(self, region: Region) -> None:
        """Write the function that returns the number of a region's first enabled transition."""
        numbers = {id(transition): n for n, transition in enumerate(self.transitions_of_region[region], 1)}

        def write_chosen(transition: CompoundTransition) -> None:
            self.code.writer.line(f"return {numbers[id(transition)]}U;")

        head = f"static {self._number_type} {self.choice_functions[region]}({self.parameters})"
        self.code.writer.line(comment("Returns the number of the first enabled transition; 0 for none."))
        with self.code.function(head) as writer:
            self._write_choice(region, write_chosen)
            writer.line("return 0U;")

    def _write_choice(self, region: Region, write_chosen: Callable[[CompoundTransition], None]) -> None:
        """Write lines that find the first enabled transition of a region, those of inner states first.

        Args:
            region: the region.
            write_chosen: writes the lines for an enabled transition, of which the last is a `return`.
        """
        writer = self.code.writer
        transitions_of_node = {
            node: [*self.code.guard_transitions(self._transitions_of(node))] for node in region.nodes
        }
        states = [state for state in region.states if transitions_of_node[state]]
        constants = self.code.names.states
        if states:
            with writer.block(f"switch (chart->{self.code.names.region_fields[region.root.index]})"):
                for state in states:
                    with writer.traced_to(self.code.state_element(state)):
                        writer.line(f"case {constants[state.index]}:")
                        writer.depth += 1
                        self._write_transitions(transitions_of_node[state], write_chosen)
                        # without a condition the last one always returns, so a `break` is not reached
                        if transitions_of_node[state][-1].condition is not None:
                            writer.line("break;")
                        writer.depth -= 1
                writer.write(["default:", "    break;"])
        for node in reversed(region.nodes):  # in document order, outer states come first
            if node in region.states or not transitions_of_node[node]:
                continue
            with writer.traced_to(self.code.state_element(node)):
                field = f"chart->{self.code.names.region_fields[region.root.index]}"
                condition = self.tree.active_condition(node.index, field, constants, active_node=None)
                with writer.block(f"if ({condition})"):
                    self._write_transitions(transitions_of_node[node], write_chosen)

    def _write_transitions(
        self, transitions: Iterable[GuardedTransition], write_chosen: Callable[[CompoundTransition], None]
    ) -> None:
        """Write the conditions of transitions in order, each with the lines for an enabled one."""
        writer = self.code.writer
        for transition, condition in transitions:
            with writer.traced_to(self.code.transition_element(transition)):
                writer.line(self.code.transition_comment(transition))
                if condition is None:
                    write_chosen(transition)
                    continue
                with writer.block(f"if ({condition})"):
                    write_chosen(transition)

    # Transitions of several regions

    def _write_several_regions(self) -> None:
        """Write the function for transitions of several regions, which are chosen before any is taken."""
        for region in self.regions:
            condition = self._preempted_condition(region)
            if condition:
                self.preempted_conditions[region] = condition
        phases = self._plan_phases()
        deferred_regions = [phase.region for phase in phases if phase.is_deferred]
        with self.code.function(f"static bool {self.name}({self.parameters})") as writer:
            for region in self.regions:
                choice = f"{self.choice_functions[region]}(chart, in)"
                decided = self._all_leaves_chose_inside_condition(region)
                if decided:
                    choice = f"({decided}) ? 0U : {choice}"
                qualifier = "" if region in self.preempted_conditions else "const "
                writer.line(f"{qualifier}{self._number_type} {self._taken_variable(region)} = {choice};")
            writer.write(f"{self._number_type} {self._due_variable(region)};" for region in deferred_regions)
            self.effects.write_copies()
            nothing_taken = " && ".join(f"({self._taken_variable(region)} == 0U)" for region in self.regions)
            with writer.block(f"if ({nothing_taken})"):
                writer.line("return false;")
            for region, condition in self.preempted_conditions.items():
                with writer.block(f"if ({condition})"):
                    # a number of no transition, and not 0, so that its leaves still count as having chosen
                    preempted_number = len(self.transitions_of_region[region]) + 1
                    writer.line(f"{self._taken_variable(region)} = {preempted_number}U; /* preempted */")
            writer.write(
                f"{self._due_variable(region)} = {self._taken_variable(region)};"
                for region in deferred_regions
            )
            for phase in phases:
                self._write_overtakers(phase)
                self._write_phase(phase)
            self.effects.write_commit(list(chain(*self.transitions_of_region.values())))
            writer.line("return true;")

    def _due_variable(self, region: Region) -> str:
        """Return the variable of C with the number of a region's transition whose actions are still due."""
        return f"due{self._suffix(region)}"

    def _all_leaves_chose_inside_condition(self, region: Region) -> str:
        """Return the condition that all leaves inside a region's active state have chosen a transition.

        These are transitions of inner regions; those of the region itself are then not tried. The condition
        is empty if it never holds.
        """
        conditions = []
        for state in region.states:
            inner = [self._all_leaves_chose_condition(self.tree.region_of(child)) for child in state.children]
            if inner and all(inner):
                conditions.append(" && ".join(inner))
        return join_conditions(conditions)

    def _all_leaves_chose_condition(self, region: Region) -> str:
        """Return the condition, in brackets, that every active leaf of a region has chosen a transition.

        Either the region takes one of its own, or all leaves inside its active state have chosen some. The
        condition is empty if it never holds.
        """
        conditions = [f"{self._taken_variable(region)} != 0U"] if region in self.transitions_of_region else []
        inner_condition = self._all_leaves_chose_inside_condition(region)
        if inner_condition:
            conditions.append(inner_condition)
        return f"({join_conditions(conditions)})" if conditions else ""

    def _preempted_condition(self, region: Region) -> str:
        """Return the condition that a region's transition is preempted by one of another region.

        Of two transitions that leave common states, that of the inner region is taken, or that of the earlier
        region if neither is inside the other. The condition is empty if there are no such transitions.
        """
        # conditions on earlier regions, by the numbers of this region's transitions that they preempt
        preempting_conditions: dict[tuple[int, ...], list[str]] = {}
        for earlier in self.regions[: self.regions.index(region)]:
            if not self._have_nested_domains(region, earlier):
                continue  # which spares the comparison of all their transitions
            # numbers of this region's transitions, by those of the earlier region that they conflict with
            numbers_by_conflicts: dict[tuple[int, ...], list[int]] = {}
            for number, transition in enumerate(self.transitions_of_region[region], 1):
                conflicting_numbers = tuple(
                    earlier_number
                    for earlier_number, earlier_transition in enumerate(
                        self.transitions_of_region[earlier], 1
                    )
                    if self.effects.are_in_conflict(transition, earlier_transition)
                )
                if conflicting_numbers:
                    numbers_by_conflicts.setdefault(conflicting_numbers, []).append(number)
            for earlier_numbers, numbers in numbers_by_conflicts.items():
                condition = self._takes_one_of_condition(earlier, earlier_numbers)
                preempting_conditions.setdefault(tuple(numbers), []).append(condition)
        return join_conditions(
            [
                f"({self._takes_one_of_condition(region, numbers)}) && ({join_conditions(conditions)})"
                for numbers, conditions in preempting_conditions.items()
            ]
        )

    def _have_nested_domains(self, region: Region, other: Region) -> bool:
        """Return whether transitions of two regions may leave common states, by their domains alone."""
        return any(
            self.tree.are_nested(domain, other_domain)
            for domain in self._domains_of_region[region]
            for other_domain in self._domains_of_region[other]
        )

    def _takes_one_of_condition(self, region: Region, numbers: Sequence[int]) -> str:
        """Return the condition, without brackets, that a region takes one of several of its transitions.

        Args:
            region: the region.
            numbers: the numbers of these transitions, ascending.
        """
        taken = self._taken_variable(region)
        n_transitions = len(self.transitions_of_region[region])
        if len(numbers) == n_transitions and region not in self.preempted_conditions:
            return f"{taken} != 0U"
        highest = n_transitions + 1  # the value of the variable if the chosen transition was preempted
        runs: list[list[int]] = []  # neighbouring numbers
        for number in numbers:
            if runs and runs[-1][-1] == number - 1:
                runs[-1].append(number)
            else:
                runs.append([number])
        conditions = [
            number_condition(taken, {n: f"{n}U" for n in run}, lowest=0, highest=highest) for run in runs
        ]
        return join_conditions(conditions)

    # The phases

    def _plan_phases(self) -> list[_Phase]:
        """Return the phases in the order of the C: exits from the last region on, actions, then entries.

        Phases without lines are left out. The actions of an outer region may have to come before those of an
        inner one; `overtakers` and `is_deferred` of their phases are set for this.
        """
        effects = self.effects
        exits = [
            self._capture_phase(region, effects.write_exits, effects.exit_footprint)
            for region in reversed(self.regions)
        ]
        actions = [
            self._capture_phase(region, effects.write_transition_actions, effects.action_footprint)
            for region in self.regions
        ]
        entries = [
            self._capture_phase(region, effects.write_entries, effects.entry_footprint)
            for region in self.regions
        ]
        self._set_overtakers([phase for phase in actions if phase.lines])
        return _join_commuting_phases([phase for phase in (*exits, *actions, *entries) if phase.lines])

    def _capture_phase(
        self,
        region: Region,
        write: Callable[[CompoundTransition], None],
        find_footprint: Callable[[CompoundTransition], Footprint],
    ) -> _Phase:
        """Return a phase of a region, with the lines written for each of its transitions.

        `code.writer` is replaced meanwhile, so that the lines do not get into the file yet.

        Args:
            region: the region.
            write: writes the lines of a transition in this phase.
            find_footprint: returns what these lines read and write.
        """
        file_writer = self.code.writer
        lines: dict[int, CWriter] = {}
        footprint = Footprint()
        for number, transition in enumerate(self.transitions_of_region[region], 1):
            self.code.writer = CWriter()
            write(transition)
            if self.code.writer.lines:
                lines[number] = self.code.writer
                footprint |= find_footprint(transition)
        self.code.writer = file_writer
        return _Phase(region, lines, footprint)

    def _set_overtakers(self, action_phases: Sequence[_Phase]) -> None:
        """Set `overtakers` and `is_deferred` where an outer region's actions may precede an inner one's.

        The actions of transitions are executed in the order of the first leaves that choose them. A leaf
        chooses a transition of an outer state if it has none of its own, and may be before others that have.
        """
        for phase in action_phases:
            for outer_phase in action_phases:
                if (
                    self.tree.is_inside(phase.region, outer_phase.region)
                    and not phase.footprint.commutes_with(outer_phase.footprint)
                    and self._may_both_be_taken(phase.region, outer_phase.region)
                    and self._undecided_before_condition(phase.region, outer_phase.region)
                ):
                    phase.overtakers.append(outer_phase)
                    outer_phase.is_deferred = True
            phase.overtakers.sort(key=lambda overtaker: overtaker.region.root.index)  # outer ones first

    def _may_both_be_taken(self, inner: Region, outer: Region) -> bool:
        """Return whether transitions of a region and of one around it may be taken together."""
        return any(
            self.tree.can_be_active(transition.source, outer_transition.source)
            and not self.effects.are_in_conflict(transition, outer_transition)
            for transition in self.transitions_of_region[inner]
            for outer_transition in self.transitions_of_region[outer]
        )

    def _undecided_before_condition(self, region: Region, outer: Region) -> str:
        """Return the condition that a leaf before a region has left the choice to an outer region.

        Such leaves are in the earlier siblings of the region and of each region around it up to `outer`. They
        leave the choice if they and the regions between have chosen no transition. The region itself is
        assumed to have chosen one. The condition is empty if it never holds, and `true` if it always does.
        """
        conditions = []
        while region is not outer:
            siblings = self.tree.nodes[region.root.parent].children
            surrounding_region = self.tree.region_of(region.root.parent)
            left_to_outer = ""
            if surrounding_region is not outer and surrounding_region in self.transitions_of_region:
                left_to_outer = f"({self._taken_variable(surrounding_region)} == 0U) && "
            for sibling in siblings[: siblings.index(region.root.index)]:
                decided = self._all_leaves_chose_condition(self.tree.region_of(sibling))
                conditions.append(left_to_outer + (f"!{decided}" if decided else "true"))
            region = surrounding_region
        return "true" if "true" in conditions else join_conditions(conditions)

    def _write_overtakers(self, phase: _Phase) -> None:
        """Write the actions of outer regions that come before those of a phase, if they do."""
        writer = self.code.writer
        for outer_phase in phase.overtakers:
            due = self._due_variable(outer_phase.region)
            undecided = self._undecided_before_condition(phase.region, outer_phase.region)
            is_next = f"({due} != 0U) && ({self._taken_variable(phase.region)} != 0U)"
            if undecided != "true":
                is_next += f" && ({undecided})"
            with writer.block(f"if ({is_next})"):
                self._write_overtakers(outer_phase)
                self._write_phase(outer_phase)
                writer.line(f"{due} = 0U;")

    def _write_phase(self, phase: _Phase) -> None:
        """Write the lines of a phase, for the transition that its region takes."""
        writer = self.code.writer
        number_variable = (
            self._due_variable(phase.region) if phase.is_deferred else self._taken_variable(phase.region)
        )
        if len(phase.lines) == 1:
            ((number, lines),) = phase.lines.items()
            with writer.block(f"if ({number_variable} == {number}U)"):
                writer.include(lines)
            return
        # numbers of transitions by the text of their lines: equal ones share a `case`
        numbers_of_text: dict[tuple[str, ...], list[int]] = {}
        for number, lines in sorted(phase.lines.items()):
            numbers_of_text.setdefault(tuple(lines.lines), []).append(number)
        with writer.block(f"switch ({number_variable})"):
            for numbers in numbers_of_text.values():
                transitions = [self.transitions_of_region[phase.region][number - 1] for number in numbers]
                for number, transition in zip(numbers, transitions, strict=True):
                    writer.line(f"case {number}U: {self.code.transition_name_comment(transition)}")
                writer.depth += 1
                writer.include(phase.lines[numbers[0]])
                writer.line("break;")
                writer.depth -= 1
            writer.write(["default:", "    break;"])


def _domain_number(transition: CompoundTransition) -> int:
    """Return the number of a transition's domain; -1 without one."""
    return -1 if transition.domain is None else transition.domain


def _join_commuting_phases(phases: Sequence[_Phase]) -> list[_Phase]:
    """Return the phases with those of a region joined where the phases between depend on neither.

    A phase is joined to an earlier one of its region if it could as well come right after that. Phases whose
    order depends on what is chosen stay as they are.
    """
    joined: list[_Phase] = []
    for phase in phases:
        is_fixed = bool(phase.overtakers) or phase.is_deferred
        earlier = next((other for other in reversed(joined) if other.region is phase.region), None)
        if is_fixed or earlier is None or earlier.overtakers or earlier.is_deferred:
            joined.append(phase)
            continue
        between = joined[joined.index(earlier) + 1 :]
        if not all(phase.footprint.commutes_with(other.footprint) for other in between):
            joined.append(phase)
            continue
        for number, lines in phase.lines.items():
            earlier.lines.setdefault(number, CWriter()).include(lines)
        earlier.footprint |= phase.footprint
    return joined
