import BeagleNetHTTP

/// One pass of an operation through a pipeline: the operation as it has become, and what receives the outcome.
struct PipelinePass: Sendable {
    var operation: NetworkOperation
    private let emit: Interceptor.Emit
    /// Outermost first, each with the rest of the pipeline below its interceptor.
    private(set) var observations: [(next: Pipeline.Next, observation: any RequestObservation)] = []
    /// Whether it runs in a task, whose cancellation counts.
    let isInTask: Bool

    init(_ operation: NetworkOperation, _ emit: @escaping Interceptor.Emit, isInTask: Bool) {
        self.operation = operation
        self.emit = emit
        self.isInTask = isInTask
    }

    /// Does the synchronous part of an interceptor.
    ///
    /// - Parameter next: the pipeline below it.
    /// - Returns: The point at which the pass stops; nil if it continues.
    mutating func begin(_ interceptor: any Interceptor, _ next: Pipeline.Next) -> Pipeline.Stop? {
        switch interceptor.begin(&operation, next: next) {
        case .proceed(let observation):
            if let observation { add(observation, next) }
            return nil
        case .emit(let result, let observation):
            emitter(result)
            if let observation { add(observation, next) }
            return nil
        case .answer(let result): return .ended(.success(result))
        case .fail(let error): return .ended(.failure(error))
        case .wait: return .interceptor(next.index)
        }
    }

    /// Adds an observation below those that there are.
    mutating func add(_ observation: any RequestObservation, _ next: Pipeline.Next) {
        if observations.isEmpty { observations.reserveCapacity(4) }
        observations.append((next, observation))
    }

    /// Takes earlier results to all observations and the caller.
    var emitter: Interceptor.Emit { emitter(above: observations.count) }

    /// Takes earlier results to the observations before this position and the caller.
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
