"""Opens report pages in headless Chromium: they render, log no error, load nothing from outside,
and hovering and zooming work.

report_browser_test.py AMSP_SIM AMSP_TRACE SOURCE_ROOT [FOLDER_FOR_SCREENSHOTS]
"""
import base64
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time


class Browser:
    """Chromium's DevTools protocol over a pair of pipes: JSON texts ended by a NUL byte."""

    def __init__(self, profile: str):
        program = shutil.which("chromium") or shutil.which("chromium-browser")
        if program is None:
            raise SystemExit("chromium is not installed (Debian package chromium)")
        to_child, self.write_end = os.pipe()
        self.read_end, from_child = os.pipe()

        def move():
            os.dup2(to_child, 63)
            os.dup2(from_child, 64)
            os.dup2(63, 3)
            os.dup2(64, 4)

        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
             "--disable-dev-shm-usage", "--disable-background-networking", "--disable-sync",
             "--disable-component-update", "--window-size=1280,1600",
             f"--user-data-dir={profile}", "--remote-debugging-pipe", "about:blank"],
            preexec_fn=move, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_child)
        os.close(from_child)
        self.buffer = b""
        self.number = 0
        self.events = []
        targets = self.call("Target.getTargets")["targetInfos"]
        page = next(target for target in targets if target["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=page["targetId"],
                                 flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.page(domain + ".enable")

    def message(self) -> dict:
        while b"\0" not in self.buffer:
            piece = os.read(self.read_end, 1 << 16)
            if not piece:
                raise SystemExit("chromium ended")
            self.buffer += piece
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def call(self, method: str, session: str = "", **params) -> dict:
        self.number += 1
        request = {"id": self.number, "method": method, "params": params}
        if session:
            request["sessionId"] = session
        os.write(self.write_end, json.dumps(request).encode() + b"\0")
        while True:
            answer = self.message()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise SystemExit(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def page(self, method: str, **params) -> dict:
        return self.call(method, self.session, **params)

    def evaluate(self, expression: str):
        result = self.page("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in result:
            raise SystemExit(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def open(self, path: pathlib.Path) -> None:
        self.events.clear()
        self.page("Page.navigate", url=path.as_uri())
        for _ in range(200):
            if self.evaluate("document.readyState") == "complete" and self.evaluate(
                    "document.querySelector('pre') !== null"):
                return
            time.sleep(0.1)
        raise SystemExit(f"{path.name} did not render; {self.complaints()}")

    def complaints(self) -> list:
        self.evaluate("0")  # whatever is under way arrives before the answer
        found = []
        for event in self.events:
            method, params = event.get("method"), event.get("params", {})
            if method == "Runtime.exceptionThrown":
                found.append(params["exceptionDetails"])
            if method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning"):
                found.append(params["args"])
            if method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
                found.append(params["entry"])
            if method == "Network.requestWillBeSent":
                url = params["request"]["url"]
                if not url.startswith(("file:", "data:")):
                    found.append(f"loads {url}")
        return found

    def mouse(self, kind: str, x: float, y: float, **more) -> None:
        self.page("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def screenshot(self, path: pathlib.Path) -> None:
        size = self.page("Page.getLayoutMetrics")["cssContentSize"]
        data = self.page("Page.captureScreenshot", format="png", captureBeyondViewport=True,
                         clip={"x": 0, "y": 0, "width": size["width"],
                               "height": min(size["height"], 4000), "scale": 1})["data"]
        path.write_bytes(base64.b64decode(data))

    def close(self) -> None:
        self.call("Browser.close")
        self.process.wait(timeout=20)


def expect(condition: bool, what: str) -> None:
    if not condition:
        raise SystemExit(f"FAILED: {what}")


def check_timeline(browser: Browser, name: str) -> None:
    browser.evaluate("document.querySelector('canvas').scrollIntoView()")
    box = browser.evaluate("(() => { const r = document.querySelector('canvas').getBoundingClientRect();"
                           " return [r.left, r.top, r.width, r.height]; })()")
    painted = browser.evaluate(
        "(() => { const c = document.querySelector('canvas');"
        " const d = c.getContext('2d').getImageData(200, 0, c.width - 200, c.height).data;"
        " let n = 0; for (let i = 0; i < d.length; i += 4)"
        " if (Math.abs(d[i] - d[i + 2]) > 40) ++n; return n; })()")
    expect(painted > 1000, f"{name}: the timeline shows coloured bars, not {painted} pixels")

    # hover: some place on the first rows must be over a bar
    tips = set()
    for step in range(40):
        x = box[0] + 200 + step * (box[2] - 220) / 40
        browser.mouse("mouseMoved", x, box[1] + 9)
        browser.mouse("mouseMoved", x, box[1] + 27)
        tip = browser.evaluate("(() => { const t = document.querySelector('.tip');"
                               " return t.style.display === 'block' ? t.textContent : ''; })()")
        tips.add(tip)
    expect(any("from" in tip for tip in tips), f"{name}: hovering names an event")

    before = browser.evaluate("window.amspTimeline.domain()")
    x, y = box[0] + 0.6 * box[2], box[1] + 20
    for _ in range(5):
        browser.mouse("mouseWheel", x, y, deltaX=0, deltaY=-240)
    for _ in range(50):
        after = browser.evaluate("window.amspTimeline.domain()")
        if after[1] - after[0] < 0.7 * (before[1] - before[0]):
            break
        time.sleep(0.1)
    expect(after[1] - after[0] < 0.7 * (before[1] - before[0]), f"{name}: the wheel zooms in")

    browser.mouse("mousePressed", x, y, button="left", clickCount=1)
    browser.mouse("mouseMoved", x - 150, y, button="left", buttons=1)
    browser.mouse("mouseReleased", x - 150, y, button="left", clickCount=1)
    moved = browser.evaluate("window.amspTimeline.domain()")
    expect(moved[0] > after[0], f"{name}: dragging moves the timeline")
    browser.evaluate("document.getElementById('reset').click()")
    reset = browser.evaluate("window.amspTimeline.domain()")
    expect(abs(reset[1] - before[1]) < 1e-6 * before[1], f"{name}: the button shows all again")


def main() -> None:
    sim, trace, root = sys.argv[1:4]
    shots = pathlib.Path(sys.argv[4]) if len(sys.argv) > 4 else None
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        work = pathlib.Path(folder)
        scenario = root + "/scenarios/paper/llama-7b-mics-32gpu.json"
        common = [scenario, "--set", "training.global_batch=32", "--trace-ranks", "0,8"]
        subprocess.run([sim, *common, "--trace", work / "a.json", "--report", work / "sim.html"],
                       check=True, stdout=subprocess.DEVNULL)
        subprocess.run([sim, *common, "--set", "engine.overlap.gather=false", "--trace",
                        work / "b.json"], check=True, stdout=subprocess.DEVNULL)
        plans = work / "plans.jsonl"
        lines = [{"schema": "amsp.plan/1", "kind": "candidate", "plan": {"p": f"{k}x1"},
                  "memory_bytes": (30 - k) * 2**30, "fits": k > 1,
                  "tokens_per_gpu_second": 4000 - 100 * k, "known_as": []} for k in (1, 2, 4, 8)]
        lines += [{"schema": "amsp.plan/1", "kind": "case", "gpus": n, "ranking": [
            {"plan": {"p": "1x1"}, "step_time_s": 1.0, "tokens_per_gpu_second": 4000 - n}]}
            for n in (8, 16, 32)]
        plans.write_text("\n".join(map(json.dumps, lines)))
        subprocess.run([trace, "report", work / "b.json", "--against", work / "a.json", "--plans",
                        plans, "--out", work / "diff.html"], check=True)
        odd = root + "/tests/traces/odd_inputs/"
        subprocess.run([trace, "report", odd + "clock_rank0.json", odd + "clock_rank1.json", "--out",
                        work / "kineto.html"], check=True)
        browser = Browser(str(work / "profile"))
        wanted = {
            "sim": ["timeline", "waterfall", "exposed", "path", "memory"],
            "diff": ["timeline", "waterfall", "exposed", "path", "pareto", "scaling"],
            "kineto": ["timeline", "waterfall", "exposed", "path"],
        }
        for name, sections in wanted.items():
            browser.open(work / (name + ".html"))
            if shots:
                browser.screenshot(shots / (name + ".png"))
            for section in sections:
                marks = browser.evaluate(
                    f"document.querySelectorAll('#{section} rect, #{section} circle,"
                    f" #{section} canvas').length")
                expect(marks > 0, f"{name}: section {section} is drawn")
            check_timeline(browser, name)
            if shots:
                browser.screenshot(shots / (name + "-after.png"))
            complaints = browser.complaints()
            expect(not complaints, f"{name}: the console is empty, found {complaints}")
            print(f"{name}: renders, hover, zoom, drag and reset work, console empty")
        browser.close()


if __name__ == "__main__":
    main()
