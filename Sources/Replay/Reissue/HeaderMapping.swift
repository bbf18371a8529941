public import BeagleNet

/// A header field that messages are sent with instead of the recorded one, which a recording has without its secret.
public struct HeaderMapping: Sendable, Hashable {
    let name: HTTPField.Name
    let value: String
    /// What of the value no report shows.
    let secrets: [String]

    /// A field. Where its name is that of a credential, no report shows its value.
    public init(_ name: HTTPField.Name, _ value: String) {
        self.init(name, value, secret: Redactor().isSecret(header: name.rawName) ? value : "")
    }

    private init(_ name: HTTPField.Name, _ value: String, secret: String) {
        self.name = name
        self.value = value
        // A scheme before it may be left out by who says it again; what is short would be found everywhere.
        secrets = [secret, secret.split(separator: " ").last.map(String.init) ?? ""].filter { $0.utf8.count > 3 }
    }

    /// Reads `Authorization=env:TOKEN`, whose value is that of a variable of the environment, or `X-Debug=1`.
    ///
    /// What stands before the variable stays: `Authorization=Bearer env:TOKEN`.
    ///
    /// - Parameters:
    ///   - text: the mapping.
    ///   - environment: the variables.
    /// - Throws: `NetworkError` of kind `.badConfiguration` where it is no mapping or there is no such variable.
    public init(_ text: String, environment: [String: String]) throws(NetworkError) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, let name = HTTPField.Name(parts[0]) else {
            // It is not repeated: it may hold a secret.
            throw Self.fault("a mapped header must be Name=value or Name=env:VARIABLE")
        }
        var value = parts[1]
        var secret = Redactor().isSecret(header: name.rawName) ? value : ""
        if let mark = value.firstRange(of: "env:"),
            mark.lowerBound == value.startIndex || value[..<mark.lowerBound].hasSuffix(" ")
        {
            let variable = String(value[mark.upperBound...])
            guard let set = environment[variable], !set.isEmpty else {
                throw Self.fault("the variable \(variable) for the mapped header \(name) is not set")
            }
            value = value[..<mark.lowerBound] + set
            secret = set
        }
        guard HTTPField.isValidValue(value) else {
            throw Self.fault(
                "the value of the mapped header \(name) cannot be sent: it has a character that is not allowed"
            )
        }
        self.init(name, value, secret: secret)
    }

    private static func fault(_ reason: String) -> NetworkError {
        NetworkError(
            .badConfiguration,
            during: .build,
            reason,
            advice: "write NAME=VALUE, or NAME=env:VARIABLE, and set the variable"
        )
    }
}
