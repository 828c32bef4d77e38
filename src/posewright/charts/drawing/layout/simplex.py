"""Numbers for the ends of arrows such that the arrows are short: the network simplex method.

After Gansner, Koutsofios, North and Vo, "A technique for drawing directed graphs" (1993), section 2.3. It
gives the best layers, and on a second graph the best places inside them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

MAX_TURNS = 20_000
"""Steps after which the numbers are good enough; they are allowed at every step."""


@dataclass(frozen=True)
class Spacing:
    """A demand: the number of `head` is at least `least` above that of `tail`; more costs `weight` each."""

    tail: int
    head: int
    least: int
    weight: int


def shortest(count: int, gaps: Iterable[Spacing]) -> list[int]:
    """Return whole numbers for 0..count-1 that meet every gap at the least cost; the lowest is 0.

    Gaps may run in a circle, where together they ask for no more than nothing.
    """
    tied = [*gaps, *(Spacing(count, i, -(10**6), 0) for i in range(count))]
    numbers = _Simplex(count + 1, tied).solve()[:count]
    lowest = min(numbers, default=0)
    return [number - lowest for number in numbers]


def _spread(count: int, gaps: Sequence[Spacing]) -> list[int]:
    """Return the lowest numbers from 0 on that meet every gap."""
    numbers = [0] * count
    for _ in range(count):
        broken = False
        for gap in gaps:
            if numbers[gap.tail] + gap.least > numbers[gap.head]:
                numbers[gap.head], broken = numbers[gap.tail] + gap.least, True
        if not broken:
            break
    return numbers


class _Simplex:
    """A spanning tree of gaps without slack, turned edge by edge into the best one."""

    def __init__(self, count: int, gaps: Sequence[Spacing]) -> None:
        self.count = count
        self.tail = [gap.tail for gap in gaps]
        self.head = [gap.head for gap in gaps]
        self.least = [gap.least for gap in gaps]
        self.weight = [gap.weight for gap in gaps]
        self.rank = _spread(count, gaps)
        self.out: list[list[int]] = [[] for _ in range(count)]
        self.into: list[list[int]] = [[] for _ in range(count)]
        for edge, gap in enumerate(gaps):
            self.out[gap.tail].append(edge)
            self.into[gap.head].append(edge)
        self.tree: list[list[tuple[int, int]]] = [[] for _ in range(count)]
        self.in_tree = [False] * len(gaps)
        self.cut = [0] * len(gaps)
        self.parent = [-1] * count
        self.low, self.high = [0] * count, [0] * count

    def slack(self, edge: int) -> int:
        return self.rank[self.head[edge]] - self.rank[self.tail[edge]] - self.least[edge]

    def solve(self) -> list[int]:
        self.grow()
        self.number(0, -1, 0)
        self.cut_all()
        for _ in range(MAX_TURNS):
            leaving = self.leaving()
            if leaving < 0:
                break
            self.turn(leaving, self.entering(leaving))
        return self.rank

    def grow(self) -> None:
        """Grow a tree of tight edges from the last node, shifting it towards its nearest neighbour."""
        inside = [False] * self.count
        root = self.count - 1
        inside[root] = True
        members = [root]
        done = 0
        while True:
            while done < len(members):
                self.take_tight(members[done], inside, members)
                done += 1
            if len(members) == self.count:
                return
            edge = self.nearest(members, inside)
            shift = self.slack(edge) if inside[self.tail[edge]] else -self.slack(edge)
            for node in members:
                self.rank[node] += shift
            done = members.index(self.tail[edge] if inside[self.tail[edge]] else self.head[edge])

    def take_tight(self, node: int, inside: list[bool], members: list[int]) -> None:
        for edge in (*self.out[node], *self.into[node]):
            other = self.head[edge] if self.tail[edge] == node else self.tail[edge]
            if not inside[other] and self.slack(edge) == 0:
                inside[other] = True
                members.append(other)
                self.join(edge)

    def nearest(self, members: list[int], inside: list[bool]) -> int:
        edges = (edge for node in members for edge in (*self.out[node], *self.into[node]))
        leaving = (edge for edge in edges if inside[self.tail[edge]] != inside[self.head[edge]])
        return min(leaving, key=self.slack)

    def join(self, edge: int) -> None:
        self.in_tree[edge] = True
        tail, head = self.tail[edge], self.head[edge]
        self.tree[tail].append((edge, head))
        self.tree[head].append((edge, tail))

    def number(self, root: int, up: int, first: int) -> None:
        """Number a subtree in post-order, so that descent is a question of intervals."""
        tree, parent, low, high = self.tree, self.parent, self.low, self.high
        parent[root], counter = up, first
        stack = [root]
        while stack:
            node = stack.pop()
            if node < 0:
                high[~node] = counter
                counter += 1
                continue
            low[node] = counter
            stack.append(~node)
            above = parent[node]
            for edge, child in tree[node]:
                if edge != above:
                    parent[child] = edge
                    stack.append(child)

    def cut_all(self) -> None:
        """Compute every cut value, leaves first."""
        for node in sorted(range(self.count), key=lambda node: self.high[node]):
            edge = self.parent[node]
            if edge >= 0:
                self.cut[edge] = self.cut_value(node, edge)

    def cut_value(self, node: int, edge: int) -> int:
        """Return the cost of lengthening the edge above a node, its children's being known."""
        sign = 1 if self.tail[edge] == node else -1
        total = self.weight[edge]
        for other in (*self.out[node], *self.into[node]):
            if other == edge:
                continue
            ahead = sign if self.tail[other] == node else -sign
            total += ahead * self.weight[other]
            if self.in_tree[other]:
                total -= ahead * self.cut[other]
        return total

    def leaving(self) -> int:
        """Return the tree edge whose lengthening saves most; -1 where none does."""
        edge = min(range(len(self.cut)), key=self.cut.__getitem__)
        return edge if self.cut[edge] < 0 else -1

    def entering(self, leaving: int) -> int:
        """Return the shortest edge that leads back over the cut that `leaving` leaves."""
        tail, head = self.tail[leaving], self.head[leaving]
        below = tail if self.high[tail] < self.high[head] else head
        low, high = self.low[below], self.high[below]
        ends, ways = (self.tail, self.into) if below == tail else (self.head, self.out)
        edges = (edge for node in self.subtree(below) for edge in ways[node])
        return min((e for e in edges if not low <= self.high[ends[e]] <= high), key=self.slack)

    def subtree(self, root: int) -> list[int]:
        tree, parent = self.tree, self.parent
        members = [root]
        for node in members:
            above = parent[node]
            members += [child for edge, child in tree[node] if edge != above]
        return members

    def turn(self, leaving: int, entering: int) -> None:
        """Exchange two edges of the tree."""
        tail, head = self.tail[leaving], self.head[leaving]
        below = tail if self.high[tail] < self.high[head] else head
        shift = self.slack(entering)
        if shift:
            for node in self.subtree(below):
                self.rank[node] += shift if below == head else -shift
        value = self.cut[leaving]
        top = self.update(self.tail[entering], self.head[entering], value, True)
        self.update(self.head[entering], self.tail[entering], value, False)
        self.cut[entering], self.cut[leaving] = -value, 0
        self.tree[tail].remove((leaving, head))
        self.tree[head].remove((leaving, tail))
        self.in_tree[leaving] = False
        self.join(entering)
        self.number(top, self.parent[top], self.low[top])

    def update(self, node: int, goal: int, value: int, ahead: bool) -> int:
        """Change the cut values from a node up to where it meets the way up from `goal`; return that."""
        while not self.low[node] <= self.high[goal] <= self.high[node]:
            edge = self.parent[node]
            along = ahead if self.tail[edge] == node else not ahead
            self.cut[edge] += value if along else -value
            node = self.head[edge] if self.tail[edge] == node else self.tail[edge]
        return node
