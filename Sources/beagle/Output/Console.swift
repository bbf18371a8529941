import ArgumentParser
import BeagleNetHTTP
import Foundation

/// A color or weight of text on a terminal.
enum Style: String {
    case bold = "1"
    case dim = "2"
    case red = "31"
    case green = "32"
    case yellow = "33"
    case cyan = "36"
}

/// Writes results to standard output and everything else to standard error.
final class Console: Sendable {
    private let colorsOutput: Bool
    private let colorsNotes: Bool
    private let collected = CollectedOutput.current
    /// Whether a progress bar would be visible.
    let hasTerminal = Terminal.exists(on: STDERR_FILENO)
    /// The progress bar on standard error, which the next note must clear first.
    private let bar = Lock("")

    init(_ color: ColorChoice = .auto) {
        colorsOutput = color.isOn(for: STDOUT_FILENO)
        colorsNotes = color.isOn(for: STDERR_FILENO)
    }

    /// Writes a result.
    func write(_ bytes: Data) {
        write(bytes, to: STDOUT_FILENO)
    }

    /// Writes a line of a result.
    func line(_ text: String) {
        write(Data("\(text)\n".utf8))
    }

    /// Writes a line to standard error with secrets redacted, because it may quote text from a server or user.
    func note(_ text: String) {
        note(asIs: Redactor.standard.redact(text: text))
    }

    /// Writes a line to standard error. The caller has already redacted secrets.
    func note(asIs text: String) {
        showBar("")
        write(Data("\(text)\n".utf8), to: STDERR_FILENO)
    }

    /// Replaces the last line of the terminal. An empty text clears it.
    func showBar(_ text: String) {
        bar.withLock { bar in
            guard text != bar else { return }
            write(Data("\r\u{1B}[K\(text)".utf8), to: STDERR_FILENO)
            bar = text
        }
    }

    /// Returns text in a style, for standard output.
    func styled(_ text: String, _ style: Style) -> String {
        colorsOutput ? Self.styled(text, style) : text
    }

    /// Returns text in a style, for standard error.
    func styledNote(_ text: String, _ style: Style) -> String {
        colorsNotes ? Self.styled(text, style) : text
    }

    private static func styled(_ text: String, _ style: Style) -> String {
        "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m"
    }

    /// Writes all bytes. If standard output can't be written any more, ends the program with libcurl's code for a
    /// failed write.
    private func write(_ bytes: Data, to descriptor: Int32) {
        if let collected { return collected.append(bytes, to: descriptor) }
        bytes.withUnsafeBytes { buffer in
            var rest = buffer[...]
            while !rest.isEmpty {
                let count = Foundation.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                if count < 0 && errno == EINTR { continue }
                guard count >= 0 else {
                    if descriptor == STDOUT_FILENO { exit(ExitCode.writeFailed) }
                    return
                }
                rest = rest.dropFirst(count)
            }
        }
    }
}

extension String {
    /// The text without control characters, because text from a server must not control the terminal.
    var printable: String {
        String(String.UnicodeScalarView(unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 }))
    }
}
