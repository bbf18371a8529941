/// An object that libcurl passes to its callbacks. A hop is retained by its transfer while its handle is in the multi
/// handle, and a loop by the thread that calls libcurl.
protocol CallbackContext: AnyObject {}

extension CallbackContext {
    /// Returns the object of a callback.
    static func from(_ context: UnsafeMutableRawPointer?) -> Self {
        with(context) { $0 }
    }

    /// Calls `body` with the object of a callback, without retaining it.
    static func with<Value>(_ context: UnsafeMutableRawPointer?, _ body: (Self) -> Value) -> Value {
        guard let context else { preconditionFailure("libcurl called back without its context") }
        return Unmanaged<Self>.fromOpaque(context)._withUnsafeGuaranteedRef(body)
    }
}
