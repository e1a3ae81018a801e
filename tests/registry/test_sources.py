from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import threading
import zipfile
from base64 import b64encode
from pathlib import Path

import pytest

from fullgraph.errors import RegistryError
from fullgraph.folders import registry_cache_folder
from fullgraph.registry import cache, download, sources
from fullgraph.registry import package_index as index
from fullgraph.registry import wheels as wheels_module
from fullgraph.registry.download import Downloader, UnreachableError
from fullgraph.registry.package_index import PipSettings, Wheel, best_wheel, pip_settings, wheels
from fullgraph.registry.wheels import RangeFile, read_wheel
from tests.registry.fake_torch import Handler, Site, ranged, registry_bytes, wheel_bytes, whole

REGISTRY = "/registry.json"
NAME = "torch-2.99.1-cp311-cp311-macosx_14_0_arm64.whl"


# Files and folders


def test_a_file_has_no_source(tmp_path: Path) -> None:
    file = tmp_path / "registry.json"
    file.write_bytes(registry_bytes())
    snapshot = sources.sync_source(str(file))
    assert (snapshot.release, len(snapshot.entries), snapshot.sites) == ("latest", 3, None)
    assert sources.snapshot_named("latest") == snapshot


def test_a_checkout_has(checkout: Path) -> None:
    snapshot = sources.sync_source(str(checkout))
    assert snapshot.release == "2.99.0a0"
    assert snapshot.sites is not None
    assert set(snapshot.sites) == {"GB0001", "GB0002"}
    assert snapshot.is_live("GB0003") is False
    assert snapshot.texts["GB0002"].hints[0] == "Search in the other drawer."
    assert "2.99.0a0" in sources.all_histories().releases


def test_a_wheel_on_this_machine(tmp_path: Path) -> None:
    (tmp_path / NAME).write_bytes(wheel_bytes())
    snapshot = sources.sync_source(str(tmp_path / NAME))
    assert (snapshot.release, len(snapshot.entries)) == ("2.99.1", 3)


def test_a_bad_source_leaves_the_last_good_one(tmp_path: Path) -> None:
    file = tmp_path / "registry.json"
    file.write_bytes(registry_bytes())
    good = sources.sync_source(str(file), "mine")
    for bad in (b"", b"{", b"{}", registry_bytes() + b"x", registry_bytes({"GB1": []})):
        file.write_bytes(bad)
        with pytest.raises(RegistryError, match=r"registry\.json: "):
            sources.sync_source(str(file), "mine")
    assert sources.snapshot_named("mine") == good


@pytest.mark.parametrize(
    ("source", "complaint"),
    [("/no/such/file", "neither a file"), ("ftp://example.org/x", "neither a file")],
)
def test_sources_that_are_none(source: str, complaint: str) -> None:
    with pytest.raises(RegistryError, match=complaint):
        sources.sync_source(source)


def test_a_folder_that_is_no_checkout(tmp_path: Path) -> None:
    with pytest.raises(RegistryError, match="not a PyTorch checkout"):
        sources.sync_source(str(tmp_path))


def test_a_name_cannot_leave_the_cache(checkout: Path) -> None:
    with pytest.raises(RegistryError, match="not a valid name"):
        sources.sync_source(str(checkout), "../elsewhere")


def test_a_broken_cache_is_as_good_as_none() -> None:
    registry_cache_folder().mkdir(parents=True)
    (registry_cache_folder() / "mine.json").write_bytes(b'{"half')
    assert cache.load("mine") is None
    with pytest.raises(RegistryError, match="neither a release"):
        sources.snapshot_named("mine")


# URLs


def test_an_address_is_asked_only_for_what_is_newer(site: Site) -> None:
    def answer(handler: Handler) -> None:
        if handler.headers.get("If-None-Match") == '"one"':
            handler.reply(304, b"")
        else:
            handler.reply(200, registry_bytes(), ETag='"one"', Last_Modified="yesterday")

    site.pages[REGISTRY] = answer
    first = sources.sync_url(site.address(REGISTRY))
    messages: list[str] = []
    assert sources.sync_url(site.address(REGISTRY), progress=messages.append) == first
    assert "has not changed" in messages[0]
    assert site.sent == len(registry_bytes())
    assert site.asked[-1][1]["If-Modified-Since"] == "yesterday"


def test_a_server_that_fails_at_first_is_asked_again(site: Site) -> None:
    failures = iter([500, 503])

    def answer(handler: Handler) -> None:
        status = next(failures, 200)
        handler.reply(status, registry_bytes() if status == 200 else b"sorry")

    site.pages[REGISTRY] = answer
    assert len(sources.sync_url(site.address(REGISTRY)).entries) == 3
    assert len(site.asked) == 3


def test_a_server_that_keeps_failing_leaves_the_cache_and_says_how_old_it_is(site: Site) -> None:
    site.pages[REGISTRY] = whole(registry_bytes())
    good = sources.sync_url(site.address(REGISTRY))
    kept = cache.load("latest")
    assert kept is not None
    cache.store("latest", cache.Cached(kept.snapshot, kept.fetched - 3 * 86400))
    site.pages[REGISTRY] = lambda handler: handler.reply(500, b"")
    messages: list[str] = []
    assert sources.sync_url(site.address(REGISTRY), progress=messages.append) == good
    assert "answers 500" in messages[0]
    assert "3 days ago" in messages[0]


def test_without_a_cache_an_unreachable_address_is_an_error(site: Site) -> None:
    address = site.address(REGISTRY)
    with pytest.raises(UnreachableError, match="answers 404"):
        sources.sync_url(address)
    assert len(site.asked) == 1  # A second request would not help.
    with pytest.raises(UnreachableError, match="cannot be reached"):
        sources.sync_url("http://127.0.0.1:9/registry.json")


def test_the_cache_of_another_address_is_not_used(site: Site) -> None:
    site.pages[REGISTRY] = whole(registry_bytes())
    sources.sync_url(site.address(REGISTRY))
    with pytest.raises(UnreachableError):
        sources.sync_url(site.address("/other.json"))


def test_a_malformed_answer_does_not_replace_the_cache(site: Site) -> None:
    site.pages[REGISTRY] = whole(registry_bytes())
    good = sources.sync_url(site.address(REGISTRY))
    site.pages[REGISTRY] = whole(b"<html>log in first</html>")
    with pytest.raises(RegistryError, match=r"not JSON .* is kept"):
        sources.sync_url(site.address(REGISTRY))
    assert sources.snapshot_named("latest") == good


def test_a_server_that_does_not_answer_is_given_up(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    released = threading.Event()
    monkeypatch.setattr(download, "TIMEOUT", 0.05)
    monkeypatch.setattr(download, "RETRIES", download.RETRIES.new(total=0))
    site.pages[REGISTRY] = lambda handler: released.wait(10) and None  # type: ignore[func-returns-value]
    try:
        with pytest.raises(UnreachableError, match="timed out"):
            sources.sync_url(site.address(REGISTRY))
    finally:
        released.set()


def test_an_answer_that_ends_early_is_no_answer(site: Site) -> None:
    def answer(handler: Handler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", "100000")
        handler.end_headers()
        handler.wfile.write(b"{")

    site.pages[REGISTRY] = answer
    with pytest.raises(UnreachableError, match="cannot be reached"):
        sources.sync_url(site.address(REGISTRY))


def test_a_password_in_an_address_is_sent_and_not_shown(site: Site) -> None:
    site.pages[REGISTRY] = whole(registry_bytes())
    address = site.address(REGISTRY).replace("http://", "http://me:secret@")
    snapshot = sources.sync_url(address)
    assert site.asked[0][1]["Authorization"].startswith("Basic ")
    assert "secret" not in snapshot.origin
    site.pages.clear()
    with pytest.raises(UnreachableError) as caught:
        sources.sync_url(address, "other")
    assert "secret" not in str(caught.value)


# Proxies and redirects


def test_a_proxy_of_the_environment_is_used(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", site.address("").replace("http://", "http://me:s%40crét@"))
    monkeypatch.setenv("https_proxy", site.address(""))
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    site.pages["http://registry.test/x"] = whole(registry_bytes())
    assert Downloader().get("http://registry.test/x").data == registry_bytes()
    token = b64encode("me:s@crét".encode()).decode()
    assert site.asked[0][1]["Proxy-Authorization"] == f"Basic {token}"
    # A secure connection goes through the proxy too: this one refuses it.
    with pytest.raises(UnreachableError, match=r"registry\.test/x cannot be reached: .*403"):
        Downloader().get("https://registry.test/x")
    assert site.asked[-1][0] == "registry.test:443"
    # A host in no_proxy gets a direct request.
    site.pages["/x"] = whole(b"direct")
    assert Downloader().get(site.address("/x")).data == b"direct"


def test_the_proxy_of_pip_wins(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    site.pages["http://registry.test/x"] = whole(b"by proxy")
    proxy = site.address("").removeprefix("http://")
    assert Downloader(proxy=proxy).get("http://registry.test/x").data == b"by proxy"


def test_an_unsupported_proxy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(RegistryError, match=r"socks5://proxy\.test is not supported") as caught:
        Downloader(proxy="socks5://me:secret@proxy.test").get("http://registry.test/x")
    assert "secret" not in str(caught.value)


def test_a_redirect_is_followed_and_gets_no_password(site: Site) -> None:
    other = Site()
    thread = threading.Thread(target=other.serve_forever, args=(0.01,))
    thread.start()
    try:
        site.pages["/same"] = lambda handler: handler.reply(302, b"", Location="/old")
        site.pages["/old"] = lambda handler: handler.reply(302, b"", Location=other.address("/new"))
        other.pages["/new"] = whole(b"moved")
        url = site.address("/same").replace("http://", "http://me:secret@")
        assert Downloader().get(url).data == b"moved"
    finally:
        other.shutdown()
        thread.join()
        other.server_close()
    assert all("Authorization" in headers for _, headers in site.asked)
    assert "Authorization" not in other.asked[0][1]


def test_an_endless_redirect_is_an_error(site: Site) -> None:
    site.pages["/x"] = lambda handler: handler.reply(302, b"", Location="/x")
    with pytest.raises(UnreachableError, match="answers 302"):
        Downloader().get(site.address("/x"))


def test_an_answer_that_breaks_off_is_asked_for_again(site: Site) -> None:
    broken = iter([True, True])

    def answer(handler: Handler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", "4")
        handler.end_headers()
        handler.wfile.write(b"d" if next(broken, False) else b"data")

    site.pages["/x"] = answer
    assert Downloader().get(site.address("/x")).data == b"data"
    assert len(site.asked) == 3


def test_a_download_that_breaks_off_leaves_nothing_in_the_file(site: Site) -> None:
    # More than one piece, and the file is another one when it is asked for again.
    answers = iter([(3 << 20, b"x" * (2 << 20)), (4, b"data")])

    def answer(handler: Handler) -> None:
        length, data = next(answers)
        handler.send_response(200)
        handler.send_header("Content-Length", str(length))
        handler.end_headers()
        handler.wfile.write(data)

    site.pages["/x"] = answer
    file = io.BytesIO()
    Downloader().save(site.address("/x"), file)
    assert file.getvalue() == b"data"


def test_certificates_that_cannot_be_read_are_named() -> None:
    with pytest.raises(RegistryError, match="cannot read the certificates /no/such/file"):
        Downloader(certificates="/no/such/file").get("https://127.0.0.1:9/")


def test_what_was_received_is_counted_and_too_much_is_refused(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = b"0123456789"
    site.pages["/part"], site.pages["/whole"] = ranged(data), whole(data, ETag="one")
    downloader = Downloader()
    reply = downloader.get(site.address("/whole"))
    assert (reply.status, reply.data, reply.headers["etag"]) == (200, data, "one")
    part = downloader.part(site.address("/part"), 2, 5)
    assert part is not None
    assert (part.status, part.data, downloader.transferred) == (206, b"234", 13)
    # Nothing of the whole file is read if only a part is wanted.
    assert downloader.part(site.address("/whole"), 2, 5) is None
    assert downloader.transferred == 13
    file = io.BytesIO()
    downloader.save(site.address("/whole"), file)
    assert (file.getvalue(), downloader.transferred) == (data, 23)
    assert all(headers["Accept-Encoding"] == "identity" for _, headers in site.asked)
    monkeypatch.setattr(download, "LARGEST_TEXT", len(data))
    assert downloader.get(site.address("/whole")).data == data
    monkeypatch.setattr(download, "LARGEST_TEXT", len(data) - 1)
    with pytest.raises(UnreachableError, match=r"/whole is larger than 0 MB"):
        downloader.get(site.address("/whole"))


# Releases


def html_index(*names: str) -> bytes:
    links = "".join(f'<a href="/files/{name}#sha256=00">{name}</a>\n' for name in names)
    yanked = f'<a data-yanked="bad" href="/files/{NAME.replace("99.1", "99.9")}">x</a>'
    return f"<!DOCTYPE html><html><body>{links}{yanked}</body></html>".encode()


def serve_index(site: Site, data: bytes, *, ranges: bool) -> PipSettings:
    site.pages["/simple/torch/"] = whole(
        html_index(
            "torch-2.98.0-cp311-cp311-manylinux_2_28_x86_64.whl", NAME, "torch-2.99.1.tar.gz"
        ),
        Content_Type="text/html",
    )
    site.pages[f"/files/{NAME}"] = ranged(data) if ranges else whole(data)
    return PipSettings(indexes=(site.address("/simple"),))


@pytest.mark.parametrize("ranges", [True, False])
def test_a_release_is_fetched_with_and_without_ranges(
    site: Site, monkeypatch: pytest.MonkeyPatch, ranges: bool
) -> None:
    data = wheel_bytes()
    settings = serve_index(site, data, ranges=ranges)
    monkeypatch.setattr(index, "pip_settings", lambda: settings)
    messages: list[str] = []
    (snapshot,) = sources.Releases(messages.append).sync("2.99")
    assert (snapshot.release, len(snapshot.entries)) == ("2.99.1", 3)
    assert snapshot.sites is not None
    assert set(snapshot.sites) == {"GB0001", "GB0002"}
    assert (site.sent < len(data) / 10) is ranges
    assert "MB downloaded" in messages[0]

    # A downloaded release is not downloaded again, and needs no index.
    before = len(site.asked)
    assert sources.snapshot_named("2.99") == snapshot
    assert sources.snapshot_named("2.99.1") == snapshot
    assert len(site.asked) == before


def test_the_newest_release_is_the_default(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = serve_index(site, wheel_bytes(), ranges=True)
    monkeypatch.setattr(index, "pip_settings", lambda: settings)
    assert [each.release for each in sources.Releases().sync()] == ["2.99.1"]


def test_an_unreachable_index_falls_back_to_what_was_fetched(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = serve_index(site, wheel_bytes(), ranges=True)
    monkeypatch.setattr(index, "pip_settings", lambda: settings)
    (snapshot,) = sources.Releases().sync("2.99")
    site.pages.clear()
    messages: list[str] = []
    assert sources.Releases(messages.append).sync("2.99") == [snapshot]
    assert "using the downloaded releases" in messages[0]
    with pytest.raises(RegistryError, match="no torch wheel found"):
        sources.snapshot_named("2.98")


def test_a_wheel_that_is_none(site: Site) -> None:
    site.pages["/x.whl"] = ranged(b"this is not a zip file" * 10_000)
    with pytest.raises(RegistryError, match="is not a wheel"):
        read_wheel(site.address("/x.whl"), Downloader())


def test_a_file_on_a_server_reads_like_a_local_one(site: Site) -> None:
    data = bytes(range(256)) * 4
    site.pages["/x.whl"] = ranged(data)
    url = site.address("/x.whl")
    start, tail = (Downloader().part(url, *span) for span in ((0, 10), (-6, 0)))
    assert start is not None
    assert tail is not None
    assert (start.data, tail.data) == (data[:10], data[-6:])
    downloader = Downloader()
    file = RangeFile(url, downloader, tail.headers["content-range"], tail.data)
    before = len(site.asked)
    assert (file.read(0), len(site.asked)) == (b"", before)
    assert (file.read(3), file.read(2), file.tell()) == (data[:3], data[3:5], 5)
    assert file.read() == data[5:]
    assert (file.read(), file.read(4)) == (b"", b"")
    # Reading the same bytes again makes no request.
    before = len(site.asked)
    file.seek(8)
    assert (file.read(4), len(site.asked)) == (data[8:12], before)


def test_positions_in_a_file_on_a_server(site: Site) -> None:
    data = bytes(range(100))
    site.pages["/x.whl"] = ranged(data)
    url = site.address("/x.whl")
    file = RangeFile(url, Downloader(), "bytes 90-99/100", data[90:])
    assert file.seekable()
    assert (file.seek(10), file.seek(5, io.SEEK_CUR), file.seek(-7, io.SEEK_END)) == (10, 15, 93)
    assert (file.read(3), file.tell(), file.read(None), file.tell()) == (
        data[93:96],
        96,
        data[96:],
        100,
    )
    assert (file.seek(-200, io.SEEK_END), file.read(2)) == (0, data[:2])
    assert file.seek(120) == 120
    assert (file.read(), file.tell()) == (b"", 120)
    # The end of the file is there, so a part that reaches into it is asked for up to it.
    file.seek(85)
    assert file.read(10) == data[85:95]
    assert site.asked[-1][1]["Range"] == "bytes=85-89"
    with pytest.raises(UnreachableError, match="does not send its length"):
        RangeFile(url, Downloader(), "bytes 90-99/*", data[90:])
    site.pages["/x.whl"] = ranged(data[:40])
    file.seek(30)
    with pytest.raises(UnreachableError, match="did not send the requested part"):
        file.read(20)
    site.pages["/x.whl"] = whole(data)
    with pytest.raises(UnreachableError, match="did not send the requested part"):
        file.read(20)


def test_parts_that_are_near_each_other_are_one_request(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wheels_module, "_GAP", 5)
    data = bytes(range(100))
    site.pages["/x.whl"] = ranged(data)
    file = RangeFile(site.address("/x.whl"), Downloader(), "bytes 95-99/100", data[95:])
    file.prefetch([(40, 10), (10, 5), (20, 2), (21, 7), (50, 1), (57, 3), (94, 50)])
    asked = [headers["Range"] for _, headers in site.asked]
    assert asked == ["bytes=10-27", "bytes=40-50", "bytes=57-59", "bytes=94-94"]
    file.seek(12)
    assert file.read(10) == data[12:22]
    assert len(site.asked) == 4


def test_a_wheel_without_a_registry_is_refused_and_only_dynamo_is_read(tmp_path: Path) -> None:
    def wheel(**files: str) -> str:
        with zipfile.ZipFile(tmp_path / "x.whl", "w") as archive:
            for name, content in files.items():
                archive.writestr(name, content)
        return str(tmp_path / "x.whl")

    registry = "torch/_dynamo/graph_break_registry.json"
    others = {"torch/_dynamo/notes.txt": "", "torch/_inductor/x.py": "", "torch/_dynamo.py": "",
              "torch/_dynamo/other.json": "", "torch/_dynamo/a/b.py": "1"}  # fmt: skip
    found = read_wheel(wheel(**others, **{registry: "{}"}), Downloader())
    assert found == {registry: b"{}", "torch/_dynamo/a/b.py": b"1"}
    with pytest.raises(RegistryError, match=r"x\.whl has no registry; use torch 2\.8 or later"):
        read_wheel(wheel(**others), Downloader())
    with pytest.raises(RegistryError, match="cannot read"):
        read_wheel(str(tmp_path / "no.whl"), Downloader())


def test_an_index_in_json(site: Site) -> None:
    files = [{"filename": NAME, "url": f"../../files/{NAME}", "hashes": {}}]
    page = json.dumps({"name": "torch", "files": files}).encode()
    site.pages["/simple/torch/"] = whole(page, Content_Type="application/vnd.pypi.simple.v1+json")
    (wheel,) = wheels(PipSettings(indexes=(site.address("/simple/"),)), Downloader())
    assert wheel == Wheel("2.99.1", "macosx_14_0_arm64", site.address(f"/files/{NAME}"))
    site.pages["/simple/torch/"] = whole(b"{", Content_Type="application/json")
    with pytest.raises(UnreachableError, match="not an index page"):
        wheels(PipSettings(indexes=(site.address("/simple"),)), Downloader())


def test_folders_of_wheels(tmp_path: Path) -> None:
    (tmp_path / NAME).write_bytes(wheel_bytes(10))
    (tmp_path / "torch-2.7.0-cp311-cp311-macosx_14_0_arm64.whl").write_bytes(b"")
    page = tmp_path / "simple" / "torch" / "index.html"
    page.parent.mkdir(parents=True)
    page.write_text(f'<a href="../../{NAME}">x</a>')
    for settings in (
        PipSettings(indexes=(), find_links=(str(tmp_path),)),
        PipSettings(indexes=((tmp_path / "simple").as_uri(),)),
    ):
        (wheel,) = wheels(settings, Downloader())
        assert Path(wheel.location).samefile(tmp_path / NAME)


def test_the_cheapest_wheel() -> None:
    linux = Wheel("2.99.1", "manylinux_2_28_x86_64", "https://example.org/a.whl")
    mac = Wheel("2.99.1", "macosx_14_0_arm64", "https://example.org/b.whl")
    here = Wheel("2.99.1", "manylinux_2_28_x86_64", "/wheels/c.whl")
    assert best_wheel([linux, mac], "2.99.1") == mac
    assert best_wheel([linux, mac, here], "2.99.1") == here
    with pytest.raises(RegistryError, match="no wheel of torch 2"):
        best_wheel([linux], "2.98.0")


def test_only_wheels_of_final_torch_releases_are_taken(tmp_path: Path) -> None:
    names = (
        "torch-2.99.1-cp311-cp311-linux_x86_64.whl", "torch-2.99.1+cpu-cp311-cp311-win_amd64.whl",
        "torch-2.99.1a0-cp311-cp311-linux_x86_64.whl", "torch-2.7.1-cp311-cp311-linux_x86_64.whl",
        "torchvision-2.99.1-cp311-cp311-linux_x86_64.whl", "torch-2.99.1.whl", "torch.tar.gz",
        "torch-2.98.0-cp311-cp311-manylinux_2_28_x86_64.manylinux2014_x86_64.whl",
    )  # fmt: skip
    for name in names:
        (tmp_path / name).write_bytes(b"")
    found = wheels(PipSettings(indexes=(), find_links=(str(tmp_path),)), Downloader())
    assert {(each.release, each.platform) for each in found} == {
        ("2.99.1", "win_amd64"),
        ("2.98.0", "manylinux2014_x86_64.manylinux_2_28_x86_64"),
        ("2.99.1", "linux_x86_64"),
    }
    with pytest.raises(UnreachableError, match="pip has neither an index nor find-links"):
        wheels(PipSettings(indexes=()), Downloader())
    # One index that cannot be reached does not hide the others.
    settings = PipSettings(indexes=("http://127.0.0.1:9",), find_links=(str(tmp_path),))
    assert wheels(settings, Downloader()) == found


def test_the_platform_with_the_smallest_wheel_comes_first() -> None:
    names = ("macosx_14_0_arm64", "macosx_10_9_x86_64", "win_amd64", "linux_x86_64")
    found = [Wheel("2.99.1", name, f"https://x.y/{name}.whl") for name in names]
    for position in range(len(found)):
        assert best_wheel(reversed(found[position:]), "2.99.1") == found[position]


def test_later_settings_of_pip_win_and_damaged_ones_are_left_out() -> None:
    lines = [
        ":env:.index-url='https://env.example'", "download.index-url='https://download.example'",
        "global.index-url='https://global.example'", "install.cert='/a'", "global.cert='/b'",
        "download.cert='/c'", "freeze.proxy='p'", "global.proxy", "global.no-index='1'",
        "global.find-links=damaged", "global.timeout=60",
    ]  # fmt: skip
    assert index._merged(lines) == {
        "index-url": "https://env.example", "cert": "/c", "no-index": "1", "timeout": "60",
    }  # fmt: skip


def test_variables_of_pip_are_its_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setattr(index, "_pip_command", list)
    assert pip_settings() == PipSettings(indexes=("https://pypi.org/simple",))
    values = {"INDEX_URL": "https://a.b", "EXTRA_INDEX_URL": "https://c.d https://a.b",
              "FIND_LINKS": "/x /y", "CERT": "/cert", "PROXY": "proxy"}  # fmt: skip
    for name, value in values.items():
        monkeypatch.setenv(f"PIP_{name}", value)
    assert pip_settings() == PipSettings(
        ("https://a.b", "https://c.d"), ("/x", "/y"), "/cert", "proxy"
    )
    for value, none in (("0", False), ("True", True), ("on", True), ("no", False)):
        monkeypatch.setenv("PIP_NO_INDEX", value)
        assert (pip_settings().indexes == ()) is none


def test_what_pip_is_configured_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "PIP_NO_INDEX", "PIP_CERT"):
        monkeypatch.delenv(name, raising=False)
    config = tmp_path / "pip.conf"
    config.write_text(
        "[global]\nindex-url = https://one.example/simple\nfind-links = /a\n  /b\n"
        "[download]\nextra-index-url = https://two.example/simple\n"
    )
    monkeypatch.setenv("PIP_CONFIG_FILE", str(config))
    settings = pip_settings()
    assert settings.indexes[:2] == ("https://one.example/simple", "https://two.example/simple")
    assert set(settings.find_links) >= {"/a", "/b"}
    monkeypatch.setenv("PIP_INDEX_URL", "https://three.example/simple")
    monkeypatch.setattr(
        index, "_pip_command", list
    )  # Without pip, its environment variables still apply.
    assert pip_settings().indexes == ("https://three.example/simple",)


def test_asking_pip_leaves_setuptools_usable() -> None:
    # The inductor backend imports setuptools, which refuses to work once pip has been looked up.
    code = (
        "from fullgraph.registry.package_index import pip_settings\n"
        "pip_settings()\n"
        "import setuptools\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


# The installed torch


def test_the_installed_torch_needs_nothing_else() -> None:
    snapshot = sources.installed_snapshot()
    assert snapshot is not None
    assert snapshot.sites is not None
    assert len(snapshot.entries) >= 219
    assert "GB0124" in snapshot.sites
    assert sources.snapshot_named(snapshot.release) == snapshot
    assert sources.snapshot_named(None) == snapshot


def test_a_torch_that_is_no_known_release_is_read_once(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch = checkout / "torch"
    (torch / "version.py").write_text("__version__ = '2.99.0.dev1+cpu'\n")
    monkeypatch.setattr(sources, "torch_folder", lambda: torch)
    snapshot = sources.installed_snapshot()
    assert snapshot is not None
    assert snapshot.release == "2.99.0.dev1"
    assert snapshot.sites is not None
    assert set(snapshot.sites) == {"GB0001", "GB0002"}
    monkeypatch.setattr(sources, "snapshot_of_folder", None)
    assert sources.installed_snapshot() == snapshot


def test_without_torch_the_newest_that_was_fetched_is_used(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "torch_folder", lambda: None)
    with pytest.raises(RegistryError, match="no registry is available"):
        sources.require_installed()
    fetched = sources.sync_source(str(checkout))
    assert sources.require_installed() == fetched


def test_a_torch_that_is_too_old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "version.py").write_text("__version__ = '2.7.1'\n")
    monkeypatch.setattr(sources, "torch_folder", lambda: tmp_path)
    with pytest.raises(RegistryError, match=r"2\.7\.1 has no registry"):
        sources.require_installed()
