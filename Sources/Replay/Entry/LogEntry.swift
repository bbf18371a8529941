#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// One message, its answer, and where the time went, as a `RequestLog` or an HTTP Archive keeps it.
///
/// A redirect, an attempt of a retry and its answer are an entry each. Text and bodies are as they were written: in a log
/// of ours without secrets. Source: HAR 1.2, http://www.softwareishard.com/blog/har-12-spec/
public struct LogEntry: Sendable, Hashable {
    /// What tells it from all others of its recording; empty where an archive does not say.
    public var id: String
    /// When it began.
    public var started: Date
    /// What was sent.
    public var request: LoggedRequest
    /// The answer; nil where there was none.
    public var response: LoggedResponse?
    /// Where the time went.
    public var timings: LogTimings
    /// Why there is no answer, or none that is whole: the error's kind and message, or what an archive says.
    public var error: String?
    /// The server's address, without brackets; nil where there was no connection.
    public var serverAddress: String?
    /// What tells the connection from others.
    public var connection: String?
    /// What the app asked: the name of a `NetworkOperation.Kind`; nil where an archive does not say.
    public var kind: String?
    /// The name of a GraphQL operation.
    public var operationName: String?
    /// Which attempt it was, from 1.
    public var attempt: Int
    /// Redirects followed before this message.
    public var redirects: Int
    /// The id of the entry that led to this one, by a redirect or because it had to be tried again.
    public var parent: String?
    /// Whether an answer came from a store, and no server was asked.
    public var isFromStore: Bool
    /// Whether the program ended before the answer did.
    public var isInterrupted: Bool
    /// What was taken out of it because it is secret, as places: `request.headers.Authorization`.
    public var redactions: [String]
    /// Messages of a WebSocket or an event stream, in order.
    public var messages: [LoggedMessage]
    /// What others wrote into the entry and nobody here knows.
    public var others: [OtherMember]

    /// Describes an exchange.
    public init(
        id: String = "",
        started: Date,
        request: LoggedRequest,
        response: LoggedResponse? = nil,
        timings: LogTimings = LogTimings(),
        error: String? = nil,
        serverAddress: String? = nil,
        connection: String? = nil,
        kind: String? = nil,
        operationName: String? = nil,
        attempt: Int = 1,
        redirects: Int = 0,
        parent: String? = nil,
        isFromStore: Bool = false,
        isInterrupted: Bool = false,
        redactions: [String] = [],
        messages: [LoggedMessage] = [],
        others: [OtherMember] = []
    ) {
        self.id = id
        self.started = started
        self.request = request
        self.response = response
        self.timings = timings
        self.error = error
        self.serverAddress = serverAddress
        self.connection = connection
        self.kind = kind
        self.operationName = operationName
        self.attempt = attempt
        self.redirects = redirects
        self.parent = parent
        self.isFromStore = isFromStore
        self.isInterrupted = isInterrupted
        self.redactions = redactions
        self.messages = messages
        self.others = others
    }
}

/// A member of an archive's entry that nobody here knows, kept as it is written.
public struct OtherMember: Sendable, Hashable {
    /// The object that has it: empty for the entry itself, else a path in it, as `response.content`.
    public var place: String
    /// Its name.
    public var name: String
    /// Its value as JSON text.
    public var json: String

    /// A member.
    public init(place: String, name: String, json: String) {
        self.place = place
        self.name = name
        self.json = json
    }
}
