/// A context in which the loads of a screen run, such as the span of the screen.
package protocol LoadContext: Sendable {
    /// Runs a body in the context.
    func run<R>(_ body: () -> R) -> R

    /// Runs a body in the context.
    nonisolated(nonsending) func run<R>(_ body: nonisolated(nonsending) () async -> R) async -> R
}

extension (any LoadContext)? {
    /// Runs a body in the context, if there is one.
    func run<R>(_ body: () -> R) -> R {
        if let self { self.run(body) } else { body() }
    }

    /// Runs a body in the context, if there is one.
    nonisolated(nonsending) func run<R>(_ body: nonisolated(nonsending) () async -> R) async -> R {
        if let self { await self.run(body) } else { await body() }
    }
}
