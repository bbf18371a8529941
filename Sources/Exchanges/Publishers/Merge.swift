#if !canImport(Combine)
    import BeagleNetHTTP
    public import OpenCombine

    extension Publisher {
        /// Combines the values of this publisher with those of another, until both finish or one fails.
        ///
        /// This is Combine's operator, which OpenCombine doesn't have. The publishers may use any threads. Values are
        /// delivered one at a time.
        public func merge<Other: Publisher>(with other: Other) -> Publishers.Merge<Self, Other>
        where Other.Output == Output, Other.Failure == Failure {
            Publishers.Merge(self, other)
        }

        /// Combines the values of this publisher with those of two others.
        public func merge<B: Publisher, C: Publisher>(
            with b: B,
            _ c: C
        ) -> Publishers.Merge<Publishers.Merge<Self, B>, C>
        where B.Output == Output, B.Failure == Failure, C.Output == Output, C.Failure == Failure {
            merge(with: b).merge(with: c)
        }
    }

    extension Publishers {
        /// A publisher of the values of two publishers, in order of arrival.
        public struct Merge<A: Publisher, B: Publisher>: Publisher where A.Output == B.Output, A.Failure == B.Failure {
            /// The values of both publishers.
            public typealias Output = A.Output
            /// The failure of both publishers.
            public typealias Failure = A.Failure

            /// The first publisher.
            public let a: A
            /// The second publisher.
            public let b: B

            /// Creates a publisher that merges two publishers.
            public init(_ a: A, _ b: B) {
                self.a = a
                self.b = b
            }

            /// Attaches a subscriber.
            ///
            /// The first publisher is subscribed to first.
            public func receive<Downstream: Subscriber>(subscriber: Downstream)
            where Downstream.Input == Output, Downstream.Failure == Failure {
                let subscription = MergeSubscription(to: subscriber)
                subscriber.receive(subscription: subscription)
                a.subscribe(subscription.side(0))
                b.subscribe(subscription.side(1))
            }
        }
    }

    /// The subscription that joins two publishers. If the demand is limited, each publisher is asked for one value at a
    /// time.
    private final class MergeSubscription<Downstream: Subscriber>: Subscription, Sendable {
        private struct Side: Sendable {
            var subscription: SendableSubscription?
            /// Whether it may be asked for its next value.
            var canRequest = false
            var isUnlimited = false
            var isFinished = false
        }

        private struct State: Sendable {
            var sides = [Side(), Side()]
            var isUnlimited = false
            var isFinished = false
        }

        private let state = Lock(State())
        private let buffer: DemandBuffer<Downstream>

        init(to downstream: Downstream) {
            buffer = DemandBuffer(to: downstream)
        }

        func request(_ demand: Subscribers.Demand) {
            buffer.request(demand)
            requestMore()
        }

        func cancel() {
            buffer.cancel()
            end(nil)
        }

        func side(_ index: Int) -> AnySubscriber<Downstream.Input, Downstream.Failure> {
            AnySubscriber(
                receiveSubscription: { self.begin(index, SendableSubscription($0)) },
                receiveValue: { self.receive($0, index) },
                receiveCompletion: { self.finish($0, index) }
            )
        }

        private func begin(_ index: Int, _ subscription: SendableSubscription) {
            let isWanted = state.withLock { state in
                if state.isFinished { return false }
                state.sides[index].subscription = subscription
                state.sides[index].canRequest = true
                return true
            }
            if isWanted { requestMore() } else { subscription.cancel() }
        }

        private func receive(_ value: Downstream.Input, _ index: Int) -> Subscribers.Demand {
            let isUnlimited = state.withLock { state in
                state.sides[index].canRequest = !state.sides[index].isUnlimited
                return state.sides[index].isUnlimited
            }
            buffer.send(value)
            if !isUnlimited { requestMore() }
            return .none
        }

        /// Requests more values from the publishers whose values have been delivered.
        private func requestMore() {
            let (isUnlimited, isEmpty) = (buffer.isUnlimited, buffer.isEmpty)
            guard isUnlimited || isEmpty else { return }
            let subscriptions = state.withLock { state in
                state.sides.indices.compactMap { index -> SendableSubscription? in
                    guard let subscription = state.sides[index].subscription, !state.sides[index].isFinished else {
                        return nil
                    }
                    if isUnlimited {
                        if state.sides[index].isUnlimited { return nil }
                        state.sides[index].isUnlimited = true
                        state.sides[index].canRequest = false
                        return subscription
                    }
                    guard state.sides[index].canRequest else { return nil }
                    state.sides[index].canRequest = false
                    return subscription
                }
            }
            for subscription in subscriptions { subscription.request(isUnlimited ? .unlimited : .max(1)) }
        }

        private func finish(_ completion: Subscribers.Completion<Downstream.Failure>, _ index: Int) {
            if case .failure = completion {
                end(index)
                return buffer.finish(completion, dropsBuffered: true)
            }
            let isLast = state.withLock { state in
                state.sides[index].isFinished = true
                state.sides[index].subscription = nil
                if state.isFinished || !state.sides.allSatisfy(\.isFinished) { return false }
                state.isFinished = true
                return true
            }
            if isLast { buffer.finish(.finished) }
        }

        /// Cancels both publishers, except the one with this index.
        private func end(_ index: Int?) {
            let sides = state.withLock { state in
                let sides = state.sides
                state = State(isFinished: true)
                return sides
            }
            for (other, side) in sides.enumerated() where other != index { side.subscription?.cancel() }
        }
    }
#endif
