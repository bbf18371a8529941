/// Suspends until `start`'s continuation is resumed; cancelling the task calls `cancel`, which is to see to that.
///
/// The caller's actor is named, or the standard library's functions would run what they are given on the pool: a hop
/// between threads for each wait of an actor.
package func suspend(
    isolation: isolated (any Actor)? = #isolation,
    _ start: (UnsafeContinuation<Void, Never>) -> Void,
    onCancel cancel: @Sendable () -> Void
) async {
    await withTaskCancellationHandler {
        await withUnsafeContinuation(isolation: isolation, start)
    } onCancel: {
        cancel()
    }
}
