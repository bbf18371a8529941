/// Suspends until the continuation is resumed. Cancelling the task calls `cancel`, which must resume it.
///
/// The caller's actor is passed explicitly. Otherwise the standard library would call the closures on the global
/// executor, which costs an actor a thread switch for each wait.
///
/// It is inlined, because a call would add a frame to a waiting task.
@inlinable
@inline(__always)
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
