/// The order in which waiting transfers are started when a limit is reached.
///
/// A transfer doesn't wait forever: a priority that was passed over eight times is next, the lowest one first.
public enum Priority: UInt8, Sendable, Hashable, Comparable, CaseIterable {
    /// A transfer that may be needed later.
    case prefetch
    /// A transfer whose result isn't visible yet, such as an image below the visible part of a list.
    case low
    /// The default.
    case normal
    /// A transfer that is more important than others of the same screen, such as its largest image.
    case high
    /// A transfer that the user is waiting for.
    case interactive

    /// Whether `one` is sent after `other`.
    public static func < (one: Priority, other: Priority) -> Bool { one.rawValue < other.rawValue }
}

extension Priority {
    /// Raises the priority of a transfer, also after it was started.
    ///
    /// ```swift
    /// var operation = NetworkOperation(request)
    /// let control = Priority.Control(.prefetch)
    /// operation.priorityControl = control
    /// // The user opened the screen:
    /// control.raise(to: .interactive)
    /// ```
    ///
    /// A control belongs to one operation and all of its attempts.
    public final class Control: Sendable {
        private struct State: Sendable {
            var priority: Priority
            /// The transfer in flight, or the control of the run that the operation shares with others.
            var target: (any RequestToken)?
        }

        private let state: InlineLock<State>

        /// Creates a control.
        ///
        /// - Parameter priority: The initial priority, in place of the one in the `TransferOptions` of the request.
        public init(_ priority: Priority = .normal) {
            state = InlineLock(State(priority: priority))
        }

        /// The highest priority so far.
        public var priority: Priority { state.withLock { $0.priority } }

        /// Raises the priority, as `RequestToken.raise(to:)` does. A lower priority than the current one has no
        /// effect.
        public func raise(to priority: Priority) {
            let target: (any RequestToken)? = state.withLock { state in
                guard priority > state.priority else { return nil }
                state.priority = priority
                return state.target
            }
            target?.raise(to: priority)
        }

        /// Connects the control to a transfer that begins.
        ///
        /// - Returns: The highest priority so far, which the target doesn't receive again.
        package func attach(_ target: any RequestToken) -> Priority {
            state.withLock { state in
                state.target = target
                return state.priority
            }
        }

        /// Connects the control to that of a shared run.
        ///
        /// - Returns: The highest priority so far, which the target doesn't receive again.
        package func attach(_ shared: Control) -> Priority { attach(AnyRequestToken(priorityControl: shared)) }

        /// Releases the transfer, which has ended.
        package func detach() {
            // Outside of the lock, because the transfer may be released.
            let ended = state.withLock { state in
                defer { state.target = nil }
                return state.target
            }
            _ = ended
        }
    }
}
