"""A folder with the counts of each finished partition, under the hash of what was counted."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass

from trilens.counts.counted import Counted
from trilens.counts.file import from_bytes, read_counts, to_bytes, write_counts
from trilens.counts.partition import Partition
from trilens.counts.work import Plan, count_partition
from trilens.errors import FormatError
from trilens.files.source import filesystem, is_url, told


@dataclass(frozen=True)
class Checkpoints:
    """Where finished counts are kept: a folder, or a URL."""

    folder: str

    def make(self) -> None:
        """Make the folder; where it is a URL, find out whether counts can be kept there."""
        if is_url(self.folder):
            place = f"{self.folder.rstrip('/')}/.writable"
            files, path = filesystem(place)
            with told(self.folder):
                files.pipe_file(path, b"")
                files.rm_file(path)
            return
        try:
            os.makedirs(self.folder, exist_ok=True)
        except OSError as error:
            raise FormatError(f"{self.folder}: {error.strerror}; choose another folder") from error

    def place(self, partition: Partition, identity: bytes) -> str:
        """The file of a partition's counts."""
        name = hashlib.sha256(identity + partition.identity.encode()).hexdigest()
        return f"{self.folder.rstrip('/')}/{name}.npz"

    def load(self, place: str) -> Counted | None:
        """The counts that are kept; None where there are none, or they were cut short."""
        try:
            if is_url(place):
                files, path = filesystem(place)
                with told(place):  # of a failure too: it is counted again
                    kept = files.cat_file(path) if files.exists(path) else None
                return None if kept is None else from_bytes(kept, place)
            return read_counts(place) if os.path.exists(place) else None
        except FormatError:
            return None

    def keep(self, place: str, counts: Counted) -> None:
        """Write counts whole."""
        if is_url(place):
            files, path = filesystem(place)
            with told(place):
                files.pipe_file(path, to_bytes(counts))  # object storage shows whole objects only
        else:
            write_counts(counts, place)


@dataclass(frozen=True)
class Done:
    """The counts of one or several partitions, and how many were found finished."""

    counts: Counted
    partitions: int
    resumed: int

    def __add__(self, other: Done) -> Done:
        return Done(
            self.counts + other.counts,
            self.partitions + other.partitions,
            self.resumed + other.resumed,
        )


def count_or_resume(parts: tuple[Partition, ...], plan: Plan, folder: str | None) -> Done:
    """Count partitions, those that were finished before from what is kept of them."""
    kept = None if folder is None else Checkpoints(folder)
    identity = plan.identity() if kept else b""
    total: Done | None = None
    for partition in parts:
        found, resumed = None, 0
        place = kept.place(partition, identity) if kept else ""
        if kept and partition.path != "-":
            found = kept.load(place)
            resumed = int(found is not None)
        if found is None:
            found = count_partition(partition, plan)
            if kept and partition.path != "-":
                kept.keep(place, found)
        one = Done(found, 1, resumed)
        total = one if total is None else total + one
    assert total is not None
    return total


def merge_done(*parts: Done) -> Done:
    """The sum, in order."""
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total
