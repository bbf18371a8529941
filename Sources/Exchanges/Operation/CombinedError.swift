public import BeagleNetGraphQL
public import BeagleNetHTTP
public import Foundation

/// Why an operation has no answer, or not the whole of it.
public enum CombinedError: Error, Sendable {
    /// There is no answer of GraphQL's: no connection, a status that refuses. `networkError` tells what happened.
    case network(URLError)
    /// The server says so; beside them there may be data.
    case graphql([GraphQLError])
    /// Anything else.
    case unknown(any Error)
}

extension CombinedError {
    /// What failed, as this library tells it; nil where the server answered with errors.
    public var networkError: NetworkError? {
        switch self {
        case .network(let error): error.userInfo[NSUnderlyingErrorKey] as? NetworkError ?? NetworkError(wrapping: error)
        case .graphql: nil
        case .unknown(let error): NetworkError(wrapping: error)
        }
    }

    /// What a failure is in the words of SwiftGraphQLClient: `.graphql` where the server said what went wrong, `.network`
    /// where the message or its answer did not get through or the status refuses, else `.unknown`.
    public init(_ error: NetworkError) {
        let errors = error.graphQLErrors
        if !errors.isEmpty {
            self = .graphql(errors)
        } else if let code = error.urlErrorCode {
            self = .network(URLError(code, userInfo: [NSUnderlyingErrorKey: error]))
        } else {
            self = .unknown(error)
        }
    }
}

extension CombinedError: Equatable {
    /// Whether two tell the same. Errors that are unknown are never the same, and those of the network are told apart by
    /// their codes.
    public static func == (one: CombinedError, other: CombinedError) -> Bool {
        switch (one, other) {
        case (.network(let one), .network(let other)): one.code == other.code
        case (.graphql(let one), .graphql(let other)): one == other
        default: false
        }
    }
}

extension CombinedError: CustomStringConvertible {
    /// What failed.
    public var description: String {
        switch self {
        case .graphql(let errors): errors.map(\.description).joined(separator: "\n")
        default: networkError?.description ?? ""
        }
    }
}

extension NetworkError {
    /// What `URLSession` would call it; nil for what is no failure of the network.
    fileprivate var urlErrorCode: URLError.Code? {
        switch kind {
        case .dns: .cannotFindHost
        case .connect: .cannotConnectToHost
        case .tls: .secureConnectionFailed
        case .timeout: .timedOut
        case .network, .truncated: .networkConnectionLost
        case .cancelled: .cancelled
        case .status: response?.status.code == 401 ? .userAuthenticationRequired : .badServerResponse
        case .protocol: .badServerResponse
        case .tooLarge: .dataLengthExceedsMaximum
        case .tooManyRedirects: .httpTooManyRedirects
        case .encoding: .cannotDecodeContentData
        case .circuitOpen, .kept: .notConnectedToInternet
        default: nil
        }
    }
}
