/// The style sheet of an `Recording.HTMLReport`.
enum HTMLReportStyle {
    static let text = #"""
        :root {
          color-scheme: light dark;
          --paper: #fff; --ink: #1b1f24; --faint: #656d76; --line: #d9dee4; --soft: #f4f6f8; --hover: #eaf2fc;
          --accent: #0860ca; --bad: #c0202c; --warn: #9a5b00; --good: #17753a; --mark: #fff0b8; --mark-ink: #6b4a00;
          --blocked: #b4bcc6; --dns: #2a9d8f; --connect: #e08a1e; --tls: #9b5de5; --send: #4f8ff7; --wait: #58b368;
          --receive: #1f6fd6;
        }
        @media (prefers-color-scheme: dark) {
          :root {
            --paper: #12161b; --ink: #e4e8ec; --faint: #949daa; --line: #2c333c; --soft: #191f26; --hover: #1d2936;
            --accent: #6cb0ff; --bad: #ff7b78; --warn: #f0b84c; --good: #63d088; --mark: #4d3d0a; --mark-ink: #ffe08a;
            --blocked: #59636f; --dns: #35b8a8; --connect: #eda044; --tls: #b387f0; --send: #74a8fa; --wait: #63bd73;
            --receive: #4690ee;
          }
        }
        * { box-sizing: border-box; }
        html { font: 13px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
        body { margin: 0; color: var(--ink); background: var(--paper); }
        code, pre, .url, .mono { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
        code, pre, .url { font-size: 12px; }
        button, input { font: inherit; color: inherit; }
        button { background: none; border: 0; padding: 0; cursor: pointer; }
        :focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; border-radius: 3px; }
        noscript p { padding: 2rem; }

        header { padding: 14px 16px 8px; }
        h1 { font-size: 18px; margin: 0 0 2px; overflow-wrap: anywhere; }
        .summary { color: var(--faint); margin: 0; }
        .summary b { color: var(--ink); font-weight: 600; }
        .summary .bad { color: var(--bad); }
        .warnings { margin: 8px 0 0; color: var(--warn); }
        .warnings li { overflow-wrap: anywhere; }

        .tools {
          position: sticky; top: 0; z-index: 3; display: flex; flex-wrap: wrap; gap: 6px 14px; align-items: center;
          padding: 8px 16px; background: var(--paper); border-bottom: 1px solid var(--line);
        }
        .tools input {
          flex: 1 1 18rem; max-width: 34rem; padding: 5px 9px; border: 1px solid var(--line); border-radius: 6px;
          background: var(--soft);
        }
        .shown { color: var(--faint); min-width: 7rem; }
        .kinds, .legend { display: flex; flex-wrap: wrap; gap: 4px; }
        .kinds button {
          padding: 2px 9px; border: 1px solid var(--line); border-radius: 99px; color: var(--faint);
        }
        .kinds button[aria-pressed="true"] { color: var(--paper); background: var(--accent); border-color: var(--accent); }
        .legend { gap: 2px 12px; color: var(--faint); margin-left: auto; }
        .legend span::before, .phases dt::before {
          content: ""; display: inline-block; width: 9px; height: 9px; border-radius: 2px; margin-right: 5px;
          background: var(--color);
        }

        .head, .row {
          display: grid; align-items: center; column-gap: 10px; padding: 0 16px;
          grid-template-columns:
            3.4rem 4.2rem 4rem 6rem minmax(10rem, 1.1fr) 4.9rem 4.9rem minmax(12rem, 1.3fr);
        }
        .head {
          position: sticky; top: var(--tools, 42px); z-index: 2; background: var(--paper); color: var(--faint);
          border-bottom: 1px solid var(--line); height: 28px;
        }
        .head button { font-weight: 600; text-align: inherit; width: 100%; white-space: nowrap; }
        .head [aria-sort="ascending"] button::after { content: " ↑"; }
        .head [aria-sort="descending"] button::after { content: " ↓"; }
        .row {
          min-height: 27px; border-bottom: 1px solid var(--line); cursor: pointer; content-visibility: auto;
          contain-intrinsic-size: auto 27px;
        }
        .row:hover { background: var(--hover); }
        .row.open { background: var(--soft); }
        .row > *, .head > * { min-width: 0; }
        .row > :not(.bar) { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
        .number { color: var(--faint); text-align: right; }
        .number button { width: 100%; text-align: right; }
        .number button::before { content: "▸ "; }
        .number button[aria-expanded="true"]::before { content: "▾ "; }
        .right { text-align: right; font-variant-numeric: tabular-nums; }
        .method { font-weight: 600; }
        .status { font-variant-numeric: tabular-nums; font-weight: 600; }
        .s2 { color: var(--good); } .s3 { color: var(--accent); } .s4, .s5, .failed { color: var(--bad); }
        .url .host { color: var(--faint); }
        .kind { color: var(--faint); }
        .tag {
          font: 11px/1 system-ui, sans-serif; margin-left: 6px; padding: 1px 5px; border-radius: 4px; color: var(--faint);
          border: 1px solid var(--line);
        }
        .tag.secret { color: var(--mark-ink); background: var(--mark); border-color: transparent; }

        .bar, .axis { position: relative; height: 100%; align-self: stretch; }
        .bar i { position: absolute; top: 7px; bottom: 7px; min-width: 1px; background: var(--color); }
        .bar i:first-child { border-radius: 2px 0 0 2px; min-width: 2px; } .bar i:last-of-type { border-radius: 0 2px 2px 0; }
        .axis span {
          position: absolute; bottom: 4px; font-size: 11px; font-weight: 400; padding-left: 3px; white-space: nowrap;
          border-left: 1px solid var(--line);
        }
        .axis span:last-of-type { transform: translateX(-100%); border: 0; padding: 0 3px 0 0; }
        .axis em {
          position: absolute; top: 2px; font: 700 12px/1 system-ui, sans-serif; color: var(--warn);
          transform: translateX(-50%); cursor: help;
        }

        .detail {
          padding: 12px 16px 18px calc(16px + 3.4rem + 10px); border-bottom: 1px solid var(--line); background: var(--soft);
        }
        .detail .whole { font-size: 12.5px; overflow-wrap: anywhere; margin: 0 0 6px; user-select: all; }
        .facts { color: var(--faint); margin: 0 0 10px; display: flex; flex-wrap: wrap; gap: 2px 16px; }
        .error { color: var(--bad); font-weight: 600; margin: 0 0 10px; overflow-wrap: anywhere; white-space: pre-wrap; }
        .columns { display: grid; grid-template-columns: repeat(auto-fit, minmax(24rem, 1fr)); gap: 14px 24px; }
        .columns > * { min-width: 0; }
        .detail h2 { font-size: 13px; margin: 0 0 4px; }
        .detail h3 { font-size: 12px; color: var(--faint); font-weight: 600; margin: 10px 0 3px; }
        .fields { display: grid; grid-template-columns: minmax(6rem, max-content) 1fr; gap: 0 12px; margin: 0; font-size: 12px; }
        .fields dt { color: var(--faint); overflow-wrap: anywhere; max-width: 16rem; }
        .fields dd { margin: 0; overflow-wrap: anywhere; white-space: pre-wrap; }
        .phases {
          display: grid; grid-template-columns: max-content 6rem 1fr; gap: 1px 12px; margin: 0; font-size: 12px; max-width: 56rem;
        }
        .phases dt, .phases dd { margin: 0; } .phases dd { text-align: right; font-variant-numeric: tabular-nums; }
        .phases .bar i { top: 4px; bottom: 4px; }
        .body { position: relative; }
        .body pre {
          margin: 0; padding: 8px 10px; max-height: 28rem; overflow: auto; white-space: pre-wrap; overflow-wrap: anywhere;
          background: var(--paper); border: 1px solid var(--line); border-radius: 6px; tab-size: 2;
        }
        .body img {
          max-width: 100%; max-height: 20rem; border: 1px solid var(--line); border-radius: 6px;
          background: repeating-conic-gradient(#8883 0 25%, transparent 0 50%) 0 0 / 16px 16px;
        }
        .note { color: var(--faint); font-size: 12px; margin: 3px 0 0; }
        .note button { color: var(--accent); }
        mark { background: var(--mark); color: var(--mark-ink); border-radius: 3px; padding: 0 2px; }
        .none { padding: 2rem 16px; color: var(--faint); }
        @media (max-width: 60rem) {
          .head, .row { grid-template-columns: 3.2rem 3.6rem 3.4rem minmax(8rem, 1fr) 4.6rem minmax(7rem, 0.6fr); }
          .kind, .size { display: none; }
          .detail { padding-left: 16px; }
          .columns { grid-template-columns: 1fr; }
        }
        @media print { .tools, .head { position: static; } .body pre { max-height: none; } }
        """#
}
