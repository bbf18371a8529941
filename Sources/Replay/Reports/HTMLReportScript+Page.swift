extension HTMLReportScript {
    /// The code for filtering, sorting, keyboard control and the initial state.
    static let page = #"""

        // MARK: Filter and order

        let order = { by: "n", down: false };
        const kinds = new Set();

        function isWanted(entry, words) {
          if (kinds.size && !kinds.has(entry.kind)) return false;
          return words.every((word) => {
            const isNegated = word.length > 1 && word.startsWith("-");
            if (isNegated) word = word.slice(1);
            const hundred = /^([1-5])xx$/.exec(word);
            const holds = hundred ? Math.floor(entry.status / 100) === Number(hundred[1]) : entry.text.includes(word);
            return holds !== isNegated;
          });
        }

        function compare(a, b) {
          const [x, y] = [a[order.by], b[order.by]];
          const result = typeof x === "string" || typeof y === "string"
            ? String(x || "").localeCompare(String(y || "")) : (x === undefined ? -1 : x) - (y === undefined ? -1 : y);
          return (order.down ? -result : result) || a.n - b.n;
        }

        function show() {
          const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
          const wanted = log.entries.filter((entry) => isWanted(entry, words)).sort(compare);
          rows.replaceChildren(...wanted.flatMap((entry) => entry.detail ? [entry.row, entry.detail] : [entry.row]));
          if (!wanted.length) rows.append(element("p", { class: "none" }, "No entries match."));
          shown.textContent = `${wanted.length} of ${log.entries.length}`;
          for (const head of heads) {
            const isThis = head.dataset.by === order.by;
            if (isThis) head.setAttribute("aria-sort", order.down ? "descending" : "ascending");
            else head.removeAttribute("aria-sort");
          }
        }

        // The page's address says what is looked at, so that it can be kept.
        let isStarting = true;
        function remember() {
          if (isStarting) return;
          const words = new URLSearchParams();
          if (input.value) words.set("filter", input.value);
          if (kinds.size) words.set("kinds", [...kinds].join(","));
          if (order.by !== "n" || order.down) words.set("sort", (order.down ? "-" : "") + order.by);
          const open = log.entries.filter((entry) => entry.detail).map((entry) => entry.n);
          if (open.length) words.set("open", open.join(","));
          history.replaceState(null, "", `#${words}`);
        }

        function recall() {
          const words = new URLSearchParams(location.hash.slice(1));
          input.value = words.get("filter") || "";
          const sort = words.get("sort") || "n";
          order = { by: sort.replace(/^-/, ""), down: sort.startsWith("-") };
          kinds.clear();
          for (const kind of (words.get("kinds") || "").split(",").filter(Boolean)) kinds.add(kind);
          for (const chip of chips) chip.setAttribute("aria-pressed", String(kinds.has(chip.textContent)));
          const open = new Set((words.get("open") || "").split(",").map(Number));
          for (const entry of log.entries) if (open.has(entry.n) && !entry.detail) toggle(entry);
          show();
          const first = log.entries.find((entry) => open.has(entry.n));
          if (first) first.row.scrollIntoView({ block: "center" });
        }

        // MARK: The page

        const failed = log.entries.filter((entry) => entry.failed).length;
        const refused = log.entries.filter((entry) => entry.status >= 400).length;
        const bytes = log.entries.reduce((sum, entry) => sum + (entry.size || 0), 0);
        const end = log.entries.reduce((last, entry) => Math.max(last, entry.at + entry.time), 0);
        const facts = [
          element("b", {}, String(log.entries.length)), log.entries.length === 1 ? " entry" : " entries",
          log.entries.length ? ` in ${shownTime(end)}, ${shownSize(bytes)} received` : "",
        ];
        if (log.entries.length) facts.push(`, from ${new Date(start).toISOString().replace("T", " ").slice(0, 19)} UTC`);
        if (refused) facts.push(", ", element("span", { class: "bad" }, `${refused} with a status of 400 or above`));
        if (failed) facts.push(", ", element("span", { class: "bad" }, `${failed} without a complete response`));
        const top = element("header", {}, element("h1", {}, log.title), element("p", { class: "summary" }, ...facts));
        if (log.warnings.length) {
          top.append(element("details", { class: "warnings" }, element("summary", {},
            `Warnings about the file: ${log.warnings.length}`),
            element("ul", {}, ...log.warnings.map((warning) => element("li", {}, warning)))));
        }

        const input = element("input", { type: "search", placeholder: "Filter: words, -excluded, 4xx, failed   ( / )",
          "aria-label": "Filter: words to include, -words to exclude, 4xx", spellcheck: "false" });
        const shown = element("span", { class: "shown", role: "status" });
        const names = [...new Set(log.entries.map((entry) => entry.kind))].sort();
        const chips = names.map((name) => element("button", { "aria-pressed": "false" }, name));
        for (const chip of chips) {
          chip.addEventListener("click", () => {
            const name = chip.textContent;
            if (!kinds.delete(name)) kinds.add(name);
            chip.setAttribute("aria-pressed", String(kinds.has(name)));
            show();
            remember();
          });
        }
        const legend = element("div", { class: "legend", "aria-hidden": "true" }, ...phaseNames.map((name) => {
          const made = element("span", {}, name);
          made.style.setProperty("--color", `var(--${name})`);
          return made;
        }));
        const tools = element("div", { class: "tools" }, input, shown,
          element("div", { class: "kinds", role: "group", "aria-label": "Kinds" }, ...(chips.length > 1 ? chips : [])), legend);

        const heads = columns.map(([title, by], index) => {
          const head = element("div", { role: "columnheader", "data-by": by,
            class: by === "at" ? "axis" : by === "size" ? "right size" : by === "kind" ? "kind" : by === "time" || by === "n" ? "right" : "" });
          if (by === "at") return head;
          const button = element("button", {}, title);
          button.addEventListener("click", () => {
            order = { by, down: order.by === by ? !order.down : by === "size" || by === "time" };
            show();
            remember();
          });
          head.append(button);
          return head;
        });
        const scale = heads[heads.length - 1];
        for (const percent of [0, 25, 50, 75, 100]) {
          const tick = element("span", {}, percent ? shownTime(axis.time(percent)) : "0");
          tick.style.left = `${percent}%`;
          scale.append(tick);
        }
        for (const [percent, idle] of axis.cuts) {
          const cut = element("em", { title: `${shownTime(idle)} without requests, not drawn` }, "//");
          cut.style.left = `${percent}%`;
          scale.append(cut);
        }

        const rows = element("div", { role: "rowgroup" });
        const table = element("main", { role: "table", "aria-label": "Entries", "aria-rowcount": log.entries.length + 1 },
          element("div", { role: "row", class: "head" }, ...heads), rows);
        for (const entry of log.entries) row(entry);
        document.body.append(top, tools, table);
        new ResizeObserver(() => {
          document.documentElement.style.setProperty("--tools", `${tools.offsetHeight}px`);
        }).observe(tools);
        input.addEventListener("input", () => { show(); remember(); });
        addEventListener("hashchange", recall);

        // MARK: Keys

        document.addEventListener("keydown", (event) => {
          if (event.ctrlKey || event.metaKey || event.altKey) return;
          const isTyping = event.target === input;
          if (event.key === "/" && !isTyping) {
            event.preventDefault();
            input.focus();
            input.select();
          } else if (event.key === "Escape" && isTyping) {
            input.value = "";
            show();
            remember();
          } else if (event.key === "Escape") {
            const open = log.entries.find((entry) => entry.detail && (entry.row.contains(event.target) || entry.detail.contains(event.target)));
            if (open) { toggle(open); open.button.focus(); }
          } else if (event.key === "ArrowDown" || event.key === "ArrowUp" || (!isTyping && (event.key === "j" || event.key === "k"))) {
            const isScrolling = event.target instanceof Element && event.target.closest("pre");
            if (isScrolling) return;
            const buttons = [...rows.querySelectorAll(".number button")];
            const at = buttons.indexOf(document.activeElement);
            const next = buttons[event.key === "ArrowDown" || event.key === "j" ? at + 1 : Math.max(at - 1, 0)];
            if (!next) return;
            event.preventDefault();
            next.focus();
          }
        });

        recall();
        isStarting = false;
        }
        """#
}
