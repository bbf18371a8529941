import Foundation

/// A terminal.
enum Terminal {
    /// Its columns; nil where the file descriptor is none.
    static func width(of descriptor: Int32) -> Int? {
        var size = winsize()
        guard isatty(descriptor) == 1, ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else {
            return nil
        }
        return Int(size.ws_col)
    }
}

extension Duration {
    /// `0.4 ms`, `45 ms`, `1.20 s`, `3 min 5 s`
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

    /// The text with its middle left out where it is longer: a URL's ends tell the most.
    func shortened(to width: Int) -> String {
        guard width > 1, count > width else { return self }
        let tail = (width - 1) / 2
        return "\(prefix(width - 1 - tail))…\(suffix(tail))"
    }
}
