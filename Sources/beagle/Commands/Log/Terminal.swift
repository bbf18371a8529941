import Foundation

/// The properties of a terminal.
enum Terminal {
    /// Returns whether output to this file descriptor appears on a terminal.
    static func exists(on descriptor: Int32) -> Bool {
        CollectedOutput.current == nil && isatty(descriptor) == 1
    }

    /// Returns the number of columns, or `nil` if the file descriptor isn't a terminal.
    static func width(of descriptor: Int32) -> Int? {
        var size = winsize()
        guard exists(on: descriptor), ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else {
            return nil
        }
        return Int(size.ws_col)
    }
}

extension Duration {
    /// The duration as text, such as `0.4 ms`, `45 ms`, `1.20 s` or `3 min 5 s`.
    var shown: String {
        let time = milliseconds
        if time >= 100_000 { return "\(Int(time / 60_000)) min \(Int(time / 1000) % 60) s" }
        if time >= 1000 {
            let hundredths = Int((time / 10).rounded())
            return "\(hundredths / 100).\("\(hundredths % 100 + 100)".dropFirst()) s"
        }
        return time >= 10 || time == 0 ? "\(Int(time.rounded())) ms" : "\(oneDecimal(time)) ms"
    }
}

extension String {
    func padded(_ width: Int) -> String {
        self + String(repeating: " ", count: max(width - count, 0))
    }

    func leftPadded(_ width: Int) -> String {
        String(repeating: " ", count: max(width - count, 0)) + self
    }

    /// Returns the text, shortened in its middle if it is longer than `width`, because the ends of a URL are the most
    /// informative.
    func shortened(to width: Int) -> String {
        guard width > 1, count > width else { return self }
        let tail = (width - 1) / 2
        return "\(prefix(width - 1 - tail))…\(suffix(tail))"
    }
}
