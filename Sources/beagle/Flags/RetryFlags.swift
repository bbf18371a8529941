import ArgumentParser
import BeagleNet
import BeagleNetHTTP

/// The options for retries, with curl's names.
struct RetryFlags: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            Retry up to this many times after transient problems: no connection, a timeout, or status 408, 429, 500, \
            502, 503 or 504. A request that is not safe to repeat, such as a POST, is retried only if it did not reach \
            the server or has an Idempotency-Key.
            """,
            valueName: "times"
        )
    )
    var retry: Int?

    @Option(
        name: .long,
        help: ArgumentHelp("Retry only within this period after the first attempt.", valueName: "seconds")
    )
    var retryMaxTime: Double?

    func validate() throws {
        if let retry, !(0...1_000).contains(retry) { throw ValidationError("'--retry' must be from 0 to 1000.") }
        guard let retryMaxTime else { return }
        guard retry != nil else { throw ValidationError("'--retry-max-time' requires '--retry'.") }
        guard retryMaxTime > 0, retryMaxTime <= 1e9 else {
            throw ValidationError("'--retry-max-time' must be a number of seconds greater than 0.")
        }
    }

    /// The retry interceptor, or nothing without `--retry`. With an explicit number of retries, the budget never limits
    /// them.
    var interceptors: [any Interceptor] {
        guard let retry, retry > 0 else { return [] }
        return [
            RetryInterceptor(
                backoff: Backoff(limit: retry + 1),
                maxTime: retryMaxTime.map { .seconds($0) },
                budget: RetryInterceptor.Budget(tokens: 2 * (retry + 1))
            )
        ]
    }
}
