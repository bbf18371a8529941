import BeagleNetHTTP

/// One pass of an operation through a pipeline: the operation as interceptors have changed it, and the receivers of its
/// outcome.
struct PipelinePass: Sendable {
    var operation: NetworkOperation
    private let emit: Interceptor.Emit
    /// The observations, outermost first, each with the index of the step below its interceptor.
    private(set) var observations: [(index: Int, observation: any RequestObservation)] = []
    /// Whether the pass runs in a task, whose cancellation it must check.
    let isInTask: Bool

    init(_ operation: NetworkOperation, _ emit: @escaping Interceptor.Emit, isInTask: Bool) {
        self.operation = operation
        self.emit = emit
        self.isInTask = isInTask
    }

    /// Performs the synchronous part of an interceptor.
    ///
    /// - Parameter next: The pipeline below the interceptor.
    /// - Returns: The point at which the pass stops; `nil` if it continues.
    mutating func begin(_ interceptor: any Interceptor, _ next: Pipeline.Next) -> Pipeline.Stop? {
        switch interceptor.begin(&operation, next: next) {
        case .proceed(let observation):
            if let observation { add(observation, below: next.index) }
            return nil
        case .emit(let result, let observation):
            emitter(result)
            if let observation { add(observation, below: next.index) }
            return nil
        case .answer(let result): return .ended(.success(result))
        case .fail(let error): return .ended(.failure(error))
        case .wait: return .interceptor(next.index)
        }
    }

    /// Adds an observation below the existing ones.
    mutating func add(_ observation: any RequestObservation, below index: Int) {
        if observations.isEmpty { observations.reserveCapacity(4) }
        observations.append((index, observation))
    }

    /// Passes earlier results through all observations to the caller.
    var emitter: Interceptor.Emit { emitter(above: observations.count) }

    /// Returns a closure that passes earlier results through the observations before this position to the caller.
    func emitter(above position: Int) -> Interceptor.Emit {
        if position == 0 { return emit }
        return { [emit, observations = observations[..<position]] result in
            var result = result
            for (_, observation) in observations.reversed() {
                guard let passed = observation.willEmit(result) else { return }
                result = passed
            }
            emit(result)
        }
    }
}
