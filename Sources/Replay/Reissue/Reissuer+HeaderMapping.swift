public import BeagleNet

extension Reissuer {
    /// A header field that replaces a recorded one, for example because its secret was redacted.
    public struct HeaderMapping: Sendable, Hashable {
        let name: HTTPField.Name
        let value: String
        /// The parts of the value that are removed from reports.
        let secrets: [String]

        /// Creates a mapping.
        ///
        /// If the name is that of a credential, reports don't show its value.
        public init(_ name: HTTPField.Name, _ value: String) {
            self.init(name, value, secret: Redactor().isSecret(header: name.rawName) ? value : "")
        }

        private init(_ name: HTTPField.Name, _ value: String, secret: String) {
            self.name = name
            self.value = value
            // The server may repeat the secret without its scheme. Very short texts would match too often.
            secrets = [secret, secret.split(separator: " ").last.map(String.init) ?? ""].filter { $0.utf8.count > 3 }
        }

        /// Parses a mapping such as `X-Debug=1`, or `Authorization=env:TOKEN` for the value of an environment variable.
        ///
        /// Text before the variable is kept: `Authorization=Bearer env:TOKEN`.
        ///
        /// - Parameters:
        ///   - text: the mapping.
        ///   - environment: the variables.
        /// - Throws: `NetworkError` of kind `.badConfiguration` if the text is not a mapping, or the variable doesn't
        ///   exist.
        public init(_ text: String, environment: [String: String]) throws(NetworkError) {
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2, let name = HTTPField.Name(parts[0]) else {
                // The text is not repeated, because it may contain a secret.
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
}
