public import BeagleNet

/// A path to one or more places in JSON: `$.items[*].price`, `$..timestamp`, `$['a.b'][0]`.
///
/// It is a subset of JSONPath (RFC 9535): members as `.name` or `['name']`, elements as `[3]`, any of them as `.*` or
/// `[*]`, and `..` before a name or `[…]` for any depth. Filters, slices and negative indices are not supported.
public struct JSONPath: Sendable, Hashable, CustomStringConvertible {
    enum Step: Sendable, Hashable {
        case member(String), element(Int), any
    }

    /// The maximum number of steps, so that the matching state fits into a word.
    static let limit = 63

    /// The text of the path.
    public let description: String
    let steps: [Step]
    /// The steps that may match at any depth.
    let isDeep: [Bool]

    /// Parses a path.
    ///
    /// - Throws: `NetworkError` of kind `.badConfiguration` that states the position and the reason.
    public init(_ text: String) throws(NetworkError) {
        var reader = Reader(text: text)
        try reader.read()
        description = text
        steps = reader.steps
        isDeep = reader.isDeep
    }
}

/// A parser for paths.
private struct Reader {
    private let text: String
    private var rest: Substring.UnicodeScalarView
    private(set) var steps: [JSONPath.Step] = []
    private(set) var isDeep: [Bool] = []

    init(text: String) {
        self.text = text
        rest = text.unicodeScalars[...]
    }

    mutating func read() throws(NetworkError) {
        guard take("$") else { throw fault("a path must begin with $") }
        while !rest.isEmpty {
            guard steps.count < JSONPath.limit else { throw fault("a path can have at most \(JSONPath.limit) steps") }
            if take("[") {
                try add(bracketed(), deep: false)
            } else if take(".") {
                let isDeep = take(".")
                try add(isDeep && take("[") ? bracketed() : name(), deep: isDeep)
            } else {
                throw fault("a step must begin with . or [")
            }
        }
    }

    private mutating func add(_ step: JSONPath.Step, deep: Bool) {
        steps.append(step)
        isDeep.append(deep)
    }

    private mutating func take(_ mark: Unicode.Scalar) -> Bool {
        guard rest.first == mark else { return false }
        rest.removeFirst()
        return true
    }

    private mutating func name() throws(NetworkError) -> JSONPath.Step {
        let name = String(rest.prefix { $0 != "." && $0 != "[" })
        guard !name.isEmpty else { throw fault("a name is missing") }
        rest = rest.dropFirst(name.unicodeScalars.count)
        return name == "*" ? .any : .member(name)
    }

    private mutating func bracketed() throws(NetworkError) -> JSONPath.Step {
        if take("*") { return try closed(.any) }
        for quote in ["'", "\""] as [Unicode.Scalar] where take(quote) {
            let name = String(rest.prefix { $0 != quote })
            rest = rest.dropFirst(name.unicodeScalars.count)
            guard take(quote) else { throw fault("the name is not closed: \(quote) is missing") }
            return try closed(.member(name))
        }
        let digits = rest.prefix { ("0"..."9").contains($0) }
        guard let index = Int(String(digits)) else { throw fault("expected an index, a name in quotes or *") }
        rest = rest.dropFirst(digits.count)
        return try closed(.element(index))
    }

    private mutating func closed(_ step: JSONPath.Step) throws(NetworkError) -> JSONPath.Step {
        guard take("]") else { throw fault("] is missing") }
        return step
    }

    private func fault(_ reason: String) -> NetworkError {
        let place = text.unicodeScalars.count - rest.count + 1
        return NetworkError(
            .badConfiguration,
            during: .build,
            "the path \(text) is invalid at character \(place): \(reason)",
            advice: "write a path such as $.items[*].price or $..timestamp"
        )
    }
}
