#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A request, its response and its timings, as stored in a `RequestLog` or an HTTP Archive.
///
/// Each redirect and each retry is an entry of its own. Text and bodies are as the recorder wrote them; in BeagleNet's
/// logs, secrets are redacted. Source: HAR 1.2, http://www.softwareishard.com/blog/har-12-spec/
public struct LogEntry: Sendable, Hashable {
    /// The identifier of the entry, unique in its recording; empty if an archive has none.
    public var id: String
    /// The time at which the request began.
    public var started: Date
    /// The request.
    public var request: Request
    /// The response; `nil` if the request had no response.
    public var response: Response?
    /// The duration of each phase.
    public var timings: Timings
    /// The reason why the response is missing or incomplete: the error's kind and message, or the archive's text.
    public var error: String?
    /// The server's address, without brackets; `nil` if there was no connection.
    public var serverAddress: String?
    /// The identifier of the connection.
    public var connection: String?
    /// The kind of operation that the app requested: the name of a `NetworkOperation.Kind`; `nil` if an archive has
    /// none.
    public var kind: String?
    /// The name of the GraphQL operation.
    public var operationName: String?
    /// The number of the attempt, starting at 1.
    public var attempt: Int
    /// The number of redirects followed before this request.
    public var redirects: Int
    /// The `id` of the entry that led to this one, by a redirect or a retry.
    public var parent: String?
    /// Whether the response came from a store, without a request to the server.
    public var isFromStore: Bool
    /// The part that the client's cache had, in the words of RFC 9211, such as `hit; ttl=37` or `fwd=stale`; `nil` if
    /// there was no cache, or in recordings of other tools.
    public var cacheStatus: String?
    /// Whether the program ended before the response was complete.
    public var isInterrupted: Bool
    /// The places from which secrets were removed, such as `request.headers.Authorization`.
    public var redactions: [String]
    /// The messages of a WebSocket or an event stream, in order.
    public var messages: [Message]
    /// Unknown members that other tools wrote into the entry.
    public var unknownMembers: [UnknownMember]

    /// Creates an entry.
    public init(
        id: String = "",
        started: Date,
        request: Request,
        response: Response? = nil,
        timings: Timings = Timings(),
        error: String? = nil,
        serverAddress: String? = nil,
        connection: String? = nil,
        kind: String? = nil,
        operationName: String? = nil,
        attempt: Int = 1,
        redirects: Int = 0,
        parent: String? = nil,
        isFromStore: Bool = false,
        cacheStatus: String? = nil,
        isInterrupted: Bool = false,
        redactions: [String] = [],
        messages: [Message] = [],
        unknownMembers: [UnknownMember] = []
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
        self.cacheStatus = cacheStatus
        self.isInterrupted = isInterrupted
        self.redactions = redactions
        self.messages = messages
        self.unknownMembers = unknownMembers
    }
}

extension LogEntry {
    /// An unknown member of an archive's entry, kept unchanged.
    public struct UnknownMember: Sendable, Hashable {
        /// The path of the object that has the member, such as `response.content`; empty for the entry itself.
        public var place: String
        /// The member's name.
        public var name: String
        /// The member's value as JSON text.
        public var json: String

        /// Creates a member.
        public init(place: String, name: String, json: String) {
            self.place = place
            self.name = name
            self.json = json
        }
    }
}
