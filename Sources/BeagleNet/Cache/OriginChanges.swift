import BeagleNetDependencies
import BeagleNetHTTP

/// The origins to which requests were sent that may have changed something.
final class OriginChanges: Sendable {
    private struct State {
        var last = 0
        var numbers: [Origin: Int] = [:]
    }

    private static let maxOrigins = 256
    private let state = Lock(State())

    /// The number of the last change of any origin.
    var lastNumber: Int { state.withLock { $0.last } }

    /// The number of the last change of an origin; 0 before the first.
    func number(of origin: Origin) -> Int { state.withLock { $0.numbers[origin] ?? 0 } }

    /// Notes a successful request with an unsafe method, or a `Clear-Site-Data` field.
    func note(_ origin: Origin) {
        state.withLock { state in
            state.last += 1
            if state.numbers.count >= Self.maxOrigins, state.numbers[origin] == nil,
                let oldest = state.numbers.min(by: { $0.value < $1.value })
            {
                state.numbers[oldest.key] = nil
            }
            state.numbers[origin] = state.last
        }
    }
}

extension BeagleDependencies {
    /// The changes that the `CacheInterceptor` has seen; `nil` without one.
    var originChanges: OriginChanges? {
        for case let cache as CacheInterceptor in interceptors { return cache.originChanges }
        return nil
    }
}
