public import BeagleNetGraphQL
public import BeagleNetHTTP
public import Foundation

/// The reason that an operation has no result, or only a partial one.
public enum CombinedError: Error, Sendable {
    /// The server sent no GraphQL response, for example because the connection failed or the status was an error.
    ///
    /// `networkError` has the details.
    case network(URLError)
    /// The server reported these errors.
    ///
    /// The result may also have data.
    case graphql([GraphQLError])
    /// Any other error.
    case unknown(any Error)
}

extension CombinedError {
    /// The underlying error of this library, or `nil` if the server reported GraphQL errors.
    public var networkError: NetworkError? {
        switch self {
        case .network(let error): error.userInfo[NSUnderlyingErrorKey] as? NetworkError ?? NetworkError(wrapping: error)
        case .graphql: nil
        case .unknown(let error): NetworkError(wrapping: error)
        }
    }

    /// Creates the error that SwiftGraphQLClient would report for a failure.
    ///
    /// The result is `.graphql` if the server reported errors, `.network` if the request or its response failed to
    /// arrive or the status was an error, and `.unknown` otherwise.
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
    /// Returns whether two errors are equal.
    ///
    /// Network errors are compared by their codes. Unknown errors are never equal.
    public static func == (one: CombinedError, other: CombinedError) -> Bool {
        switch (one, other) {
        case (.network(let one), .network(let other)): one.code == other.code
        case (.graphql(let one), .graphql(let other)): one == other
        default: false
        }
    }
}

extension CombinedError: CustomStringConvertible {
    /// The error messages.
    public var description: String {
        switch self {
        case .graphql(let errors): errors.map(\.description).joined(separator: "\n")
        default: networkError?.description ?? ""
        }
    }
}

extension NetworkError {
    /// The code that `URLSession` would report, or `nil` if this isn't a network failure.
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
