import ArgumentParser
import BeagleNet
import BeagleNetHTTP

/// How often a command asks again, spelled as curl's flags.
struct RetryFlags: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            Ask again this often after what may pass: no connection, a timeout, 408, 429, 500, 502, 503 or 504. What \
            the server may have done, and must not do twice, goes out again only with an Idempotency-Key.
            """,
            valueName: "times"
        )
    )
    var retry: Int?

    @Option(
        name: .long,
        help: ArgumentHelp("No attempt begins later than this after the first.", valueName: "seconds")
    )
    var retryMaxTime: Double?

    func validate() throws {
        if let retry, !(0...1_000).contains(retry) { throw ValidationError("'--retry' takes a number from 0 to 1000.") }
        guard let retryMaxTime else { return }
        guard retry != nil else { throw ValidationError("'--retry-max-time' goes with '--retry'.") }
        guard retryMaxTime > 0, retryMaxTime <= 1e9 else {
            throw ValidationError("'--retry-max-time' takes a number of seconds above 0.")
        }
    }

    /// What asks again; nothing without `--retry`. Somebody who says how often needs no budget besides.
    var interceptors: [any Interceptor] {
        guard let retry, retry > 0 else { return [] }
        return [
            RetryInterceptor(
                backoff: Backoff(limit: retry + 1),
                maxTime: retryMaxTime.map { .seconds($0) },
                budget: RetryBudget(tokens: 2 * (retry + 1))
            )
        ]
    }
}
