// The small protocols to which a transport may conform as well, in one file because they are read together.

/// A transport that is a value composed of objects. Two values with the same objects are the same transport.
package protocol ComposedTransport: HTTPTransport {
    /// The objects, always in the same order. Empty if any part isn't an object.
    var parts: [any AnyObject & Sendable] { get }
}

extension HTTPTransport {
    /// The objects that identify this transport. Empty if it can't be identified.
    package var identity: [any AnyObject & Sendable] {
        if let composed = self as? any ComposedTransport { return composed.parts }
        // With Objective-C, any value can be cast to `AnyObject`. Check that the type itself is a class.
        guard type(of: self) is any AnyObject.Type, let object = self as? any HTTPTransport & AnyObject else {
            return []
        }
        return [object]
    }
}

/// A transport that may add its own cookies to requests, which then act on behalf of a user.
package protocol CookieTransport: HTTPTransport {
    /// Whether the transport stores cookies anywhere.
    var storesCookies: Bool { get }
}

/// A transport that may respond without using the network, for example from a recording.
package protocol OfflineTransport: HTTPTransport {
    /// Whether the app configured it so that no request reaches a server.
    var isOffline: Bool { get }
}

/// A transport that can report its connections.
package protocol ConnectionTransport: HTTPTransport {
    /// Returns the number of open connections.
    func openConnections() async -> ConnectionCount
}

/// The number of open connections.
package struct ConnectionCount: Sendable, Equatable {
    /// The connections that are in use by a request or response.
    package var active: Int
    /// The connections that are kept for reuse.
    package var idle: Int

    package init(active: Int = 0, idle: Int = 0) {
        self.active = active
        self.idle = idle
    }
}
