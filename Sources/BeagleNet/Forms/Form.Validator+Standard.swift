public import BeagleNetHTTP

extension Form.Validator {
    /// Rejects an empty value, like `Form.Input.isRequired`.
    public static let required = Form.Validator { value, _ in value.isEmpty ? .required : nil }

    /// Returns a validator of the length of texts, in characters as the user sees them.
    ///
    /// - Parameters:
    ///   - minimum: The minimum number of characters, 0 by default.
    ///   - maximum: The maximum number of characters, or `nil`, the default, for no maximum.
    public static func length(atLeast minimum: Int = 0, atMost maximum: Int? = nil) -> Form.Validator {
        text { text in
            let count = text.count
            if count < minimum {
                return .limit(.tooShort, "must have at least \(counted(minimum, "character"))", minimum: minimum)
            }
            guard let maximum, count > maximum else { return nil }
            return .limit(.tooLong, "must have at most \(counted(maximum, "character"))", maximum: maximum)
        }
    }

    /// Returns a validator that accepts texts that match a regular expression as a whole.
    ///
    /// - Parameter pattern: A regular expression in the syntax of Swift's `Regex`.
    /// - Throws: `NetworkError` of kind `.badConfiguration` if it isn't a valid regular expression.
    public static func pattern(_ pattern: String) throws(NetworkError) -> Form.Validator {
        let regex = try FormPattern(pattern)
        return text { text in
            regex.matches(text)
                ? nil : Form.Message(.pattern, "must have the requested format", arguments: ["pattern": pattern])
        }
    }

    /// Accepts the e-mail addresses of HTML's `<input type="email">` (HTML Standard, 4.10.5.1.5).
    ///
    /// The rule is narrower than RFC 5322, and a host name needs no dot.
    public static let email = text {
        EmailAddress.isValid($0) ? nil : Form.Message(.email, "must be an e-mail address")
    }

    /// Accepts numbers, also as text of a floating-point number in HTML such as `-1.5e3` (HTML Standard, 2.3.4.3).
    public static let number = each { $0.finiteNumber == nil ? .number : nil }

    /// Returns a validator that accepts numbers, also as text, in a range.
    ///
    /// - Parameters:
    ///   - minimum: The least number that is accepted, or `nil`, the default, for no minimum.
    ///   - maximum: The greatest number that is accepted, or `nil`, the default, for no maximum.
    public static func range(atLeast minimum: Double? = nil, atMost maximum: Double? = nil) -> Form.Validator {
        each { value in
            guard let number = value.finiteNumber else { return .number }
            if let minimum, number < minimum {
                return .limit(.tooSmall, "must be at least \(minimum.shortText)", minimum: minimum.shortText)
            }
            guard let maximum, number > maximum else { return nil }
            return .limit(.tooLarge, "must be at most \(maximum.shortText)", maximum: maximum.shortText)
        }
    }

    /// Returns a validator that accepts only the value of another input, as for a repeated password.
    ///
    /// It also rejects an empty value if the other input isn't empty.
    ///
    /// - Parameter name: The name of the other input. Without such an input, only an empty value is accepted.
    public static func equal(to name: String) -> Form.Validator {
        Form.Validator { value, inputs in
            let other = inputs.first { $0.name == name }?.value ?? .empty
            if value == other || (value.isEmpty && other.isEmpty) { return nil }
            return Form.Message(.notEqual, "must be equal to \(name)", arguments: ["input": name])
        }
    }
}

/// A regular expression that several threads may use, one at a time, because `Regex` isn't `Sendable`.
private final class FormPattern: Sendable {
    private let regex: Lock<Regex<AnyRegexOutput>>

    /// - Throws: `NetworkError` of kind `.badConfiguration` if the pattern isn't a regular expression.
    init(_ pattern: String) throws(NetworkError) {
        do {
            regex = Lock(try Regex(pattern))
        } catch {
            throw NetworkError(
                .badConfiguration,
                during: .build,
                "\(pattern.debugDescription) is not a valid regular expression",
                advice: "check the pattern of the validator",
                underlying: error
            )
        }
    }

    func matches(_ text: String) -> Bool {
        regex.withLock { regex in
            // Only transforms throw.
            do { return try regex.wholeMatch(in: text) != nil } catch { return false }
        }
    }
}

extension Form.Message {
    static let number = Form.Message(.number, "must be a number")

    fileprivate static func limit(_ key: Key, _ text: String, minimum: some Any) -> Form.Message {
        Form.Message(key, text, arguments: ["minimum": "\(minimum)"])
    }

    fileprivate static func limit(_ key: Key, _ text: String, maximum: some Any) -> Form.Message {
        Form.Message(key, text, arguments: ["maximum": "\(maximum)"])
    }
}

extension Double {
    fileprivate var shortText: String { Int64(exactly: self).map { "\($0)" } ?? "\(self)" }
}
