"""Files are found, checked and downloaded, against a server on this machine."""

from __future__ import annotations

import socket
import sys
from pathlib import Path

import numpy as np
import pytest

from downloads import Come, Server, left_in, zipped
from trilens.datasets import load_ca_hepth, load_cars, load_things_odd_one_out
from trilens.datasets.fetch import Address, Origin, cache_folder, find_files
from trilens.errors import DatasetError, MissingExtraError

NETWORK = "ca-HepTh/ca-HepTh.txt.gz"
TABLE = "cars/ordinal_data_preprocessed/ALL.csv"


@pytest.fixture
def network(data_dir: Path) -> bytes:
    return (data_dir / NETWORK).read_bytes()


@pytest.fixture
def cars_zip(data_dir: Path) -> dict[str, bytes]:
    """The members of the authors' archive."""
    folder = data_dir / "cars"
    return {
        f"60_cars_data/{path.relative_to(folder).as_posix()}": path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def failure(path: str, origin: Origin) -> str:
    with pytest.raises(DatasetError) as caught:
        find_files([path], origin)
    assert "\n" not in str(caught.value)
    return str(caught.value)


class TestGivenFolder:
    def test_is_looked_in_first(
        self, server: Server, cache: Path, data_dir: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("TRILENS_DATA", str(data_dir))
        assert find_files([NETWORK], server.origin("x.gz")) == [data_dir / NETWORK]
        assert server.asked == []
        assert not cache.exists()

    def test_a_spoilt_file_is_named(
        self, server: Server, cache: Path, network: bytes, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        given = cache.parent / "given" / NETWORK
        given.parent.mkdir(parents=True)
        monkeypatch.setenv("TRILENS_DATA", str(cache.parent / "given"))
        server.files["/n.gz"] = network
        for content in (network[: len(network) // 2], b"#" + network[1:]):
            given.write_bytes(content)
            text = failure(NETWORK, server.origin("n.gz"))
            assert text.startswith(f"{given}: corrupted or half-downloaded")
        given.write_bytes(network)
        assert find_files([NETWORK], server.origin("n.gz")) == [given]
        given.write_bytes(network[:-1])  # after the first load, too
        assert "corrupted" in failure(NETWORK, server.origin("n.gz"))
        assert server.asked == []

    def test_what_it_lacks_is_downloaded(
        self, server: Server, cache: Path, network: bytes, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("TRILENS_DATA", str(cache.parent))
        server.files["/n.gz"] = network
        assert find_files([NETWORK], server.origin("n.gz")) == [cache / NETWORK]

    def test_must_be_a_folder(self, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("TRILENS_DATA", str(cache.parent / "nowhere"))
        with pytest.raises(DatasetError, match="nowhere, which is not a folder"):
            load_ca_hepth()


class TestDownload:
    @pytest.mark.parametrize("spoilt", [False, True])
    def test_what_arrives_is_the_file(
        self, spoilt: bool, server: Server, cache: Path, network: bytes, capfd
    ) -> None:
        if spoilt:
            (cache / NETWORK).parent.mkdir(parents=True)
            (cache / NETWORK).write_bytes(network[:1000])
        server.files["/n.gz"] = network
        for _ in range(2):  # the second time from the cache
            (path,) = find_files([NETWORK], server.origin("n.gz"))
            assert path == cache / NETWORK
            assert path.read_bytes() == network
        assert server.asked == ["/n.gz"]
        assert left_in(cache) == [NETWORK]
        assert capfd.readouterr() == ("", "")

    def test_a_transfer_that_breaks_off_leaves_nothing(
        self, server: Server, cache: Path, network: bytes
    ) -> None:
        server.files["/n.gz"] = network
        server.cut = [70_000]
        assert "broke off after 70,000" in failure(NETWORK, server.origin("n.gz"))
        assert left_in(cache) == []

    def test_a_file_that_is_gone(self, server: Server, cache: Path) -> None:
        assert failure(NETWORK, server.origin("n.gz")) == (
            f"{cache / NETWORK} is missing: {server.url}/n.gz answered 404 Not Found; download "
            f"{NETWORK} from https://example.org/data and put it there, or in "
            f"the folder that TRILENS_DATA names (sha256 "
            f"7235c7e11887f8a32dfd03a3aa0c77efdf89d41591a959c7d6e4ca11b1299bb5)"
        )
        (cache / NETWORK).write_bytes(b"half")
        text = failure(NETWORK, server.origin("gone.gz"))
        assert text.startswith(f"{cache / NETWORK} is corrupted: {server.url}/gone.gz answered 404")

    def test_a_server_that_is_gone(self, cache: Path) -> None:
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            url = f"http://127.0.0.1:{unused.getsockname()[1]}/n.gz"
            text = failure(NETWORK, Origin("https://example.org/data", (Address(url),)))
        assert f"{url} cannot be reached; download {NETWORK} from https://example.org" in text

    def test_the_second_source_serves(self, server: Server, cache: Path, network: bytes) -> None:
        server.files["/b.gz"] = network
        sources = (Address(f"{server.url}/a.gz"), Address(f"{server.url}/b.gz"))
        (path,) = find_files([NETWORK], Origin("https://example.org", sources))
        assert path.read_bytes() == network

    def test_a_cache_that_cannot_be_written(
        self, server: Server, cache: Path, network: bytes
    ) -> None:
        cache.write_text("a file, not a folder")
        server.files["/n.gz"] = network
        assert failure(NETWORK, server.origin("n.gz")).startswith(f"{cache}: cannot be written (")

    def test_needs_pooch(self, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "pooch", None)
        with pytest.raises(MissingExtraError, match="downloading a data set needs the data extra"):
            load_ca_hepth()

    def test_no_source(self, cache: Path) -> None:
        with pytest.raises(DatasetError, match=r"no address .* is known; download things/test_10"):
            load_things_odd_one_out()

    def test_default_cache(self, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        import pooch

        assert cache_folder() == cache
        monkeypatch.delenv("TRILENS_CACHE")
        assert cache_folder() == Path(pooch.os_cache("trilens"))


class TestArchive:
    MEMBER = "60_cars_data/{name}"

    def test_the_cars(
        self,
        server: Server,
        cache: Path,
        cars_zip: dict[str, bytes],
        data_dir: Path,
        come: Come,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        server.files["/60_cars_data.zip"] = zipped(cars_zip)
        come("cars", {"cars/": server.origin("60_cars_data.zip", self.MEMBER)})
        fetched = load_cars()
        assert len(left_in(cache)) == 65
        assert not [name for name in left_in(cache) if ".zip" in name]
        monkeypatch.setenv("TRILENS_DATA", str(data_dir))
        given = load_cars()
        for name, statements in given.statements.items():
            np.testing.assert_array_equal(fetched.statements[name].triples, statements.triples)
        for name, path in given.pictures.items():
            assert fetched.pictures[name].read_bytes() == path.read_bytes()

    def test_a_changed_member_is_named(
        self, server: Server, cache: Path, cars_zip: dict[str, bytes]
    ) -> None:
        cars_zip["60_cars_data/ordinal_data_preprocessed/ALL.csv"] += b"1,2,3\n"
        server.files["/c.zip"] = zipped(cars_zip)
        text = failure(TABLE, server.origin("c.zip", self.MEMBER))
        assert "c.zip holds another ordinal_data_preprocessed/ALL.csv (by its sha256)" in text
        assert left_in(cache) == []

    def test_a_missing_member(self, server: Server, cache: Path) -> None:
        server.files["/c.zip"] = zipped({"readme": b"moved"})
        text = failure(TABLE, server.origin("c.zip", self.MEMBER))
        assert "sent no archive with the file in it (There is no item named" in text

    def test_a_page_instead_of_an_archive(self, server: Server, cache: Path) -> None:
        server.files["/c.zip"] = b"<html>please log in</html>"
        text = failure(TABLE, server.origin("c.zip", self.MEMBER))
        assert "c.zip sent a web page, not the file (perhaps a login, or an error);" in text
        assert left_in(cache) == []
