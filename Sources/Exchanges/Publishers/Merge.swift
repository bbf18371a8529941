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
                let confluence = Confluence(to: subscriber)
                subscriber.receive(subscription: confluence)
                a.subscribe(confluence.side(0))
                b.subscribe(confluence.side(1))
            }
        }
    }

    /// The subscription that joins two publishers. If the demand is limited, each publisher is asked for one value at a
    /// time.
    private final class Confluence<Downstream: Subscriber>: Subscription, Sendable {
        private struct Side: Sendable {
            var line: Line?
            /// Whether it may be asked for its next value.
            var isOwed = false
            var isUnlimited = false
            var isOver = false
        }

        private struct State: Sendable {
            var sides = [Side(), Side()]
            var isUnlimited = false
            var isOver = false
        }

        private let state = Lock(State())
        private let delivery: Delivery<Downstream>

        init(to downstream: Downstream) {
            delivery = Delivery(to: downstream)
        }

        func request(_ demand: Subscribers.Demand) {
            delivery.request(demand)
            ask()
        }

        func cancel() {
            delivery.cancel()
            end(nil)
        }

        func side(_ index: Int) -> AnySubscriber<Downstream.Input, Downstream.Failure> {
            AnySubscriber(
                receiveSubscription: { self.begin(index, Line($0)) },
                receiveValue: { self.take($0, index) },
                receiveCompletion: { self.finish($0, index) }
            )
        }

        private func begin(_ index: Int, _ line: Line) {
            let isWanted = state.withLock { state in
                if state.isOver { return false }
                state.sides[index].line = line
                state.sides[index].isOwed = true
                return true
            }
            if isWanted { ask() } else { line.cancel() }
        }

        private func take(_ value: Downstream.Input, _ index: Int) -> Subscribers.Demand {
            let isUnlimited = state.withLock { state in
                state.sides[index].isOwed = !state.sides[index].isUnlimited
                return state.sides[index].isUnlimited
            }
            delivery.send(value)
            if !isUnlimited { ask() }
            return .none
        }

        /// Requests more values from the publishers whose values have been delivered.
        private func ask() {
            let (isUnlimited, isEmpty) = (delivery.isUnlimited, delivery.isEmpty)
            guard isUnlimited || isEmpty else { return }
            let lines = state.withLock { state in
                state.sides.indices.compactMap { index -> Line? in
                    guard let line = state.sides[index].line, !state.sides[index].isOver else { return nil }
                    if isUnlimited {
                        if state.sides[index].isUnlimited { return nil }
                        state.sides[index].isUnlimited = true
                        state.sides[index].isOwed = false
                        return line
                    }
                    guard state.sides[index].isOwed else { return nil }
                    state.sides[index].isOwed = false
                    return line
                }
            }
            for line in lines { line.request(isUnlimited ? .unlimited : .max(1)) }
        }

        private func finish(_ completion: Subscribers.Completion<Downstream.Failure>, _ index: Int) {
            if case .failure = completion {
                end(index)
                return delivery.finish(completion, isAtOnce: true)
            }
            let isLast = state.withLock { state in
                state.sides[index].isOver = true
                state.sides[index].line = nil
                if state.isOver || !state.sides.allSatisfy(\.isOver) { return false }
                state.isOver = true
                return true
            }
            if isLast { delivery.finish(.finished) }
        }

        /// Cancels both publishers, except the one with this index.
        private func end(_ index: Int?) {
            let sides = state.withLock { state in
                let sides = state.sides
                state = State(isOver: true)
                return sides
            }
            for (place, side) in sides.enumerated() where place != index { side.line?.cancel() }
        }
    }
#endif
