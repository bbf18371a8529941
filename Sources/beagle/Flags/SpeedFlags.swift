import ArgumentParser
import BeagleNetHTTP

/// The options for the maximum and minimum speed of a transfer, with curl's names.
struct SpeedFlags: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "Maximum transfer speed in bytes per second. The suffixes K, M and G are powers of 1024.",
            valueName: "speed"
        )
    )
    var limitRate: ByteRate?

    @Option(
        name: [.customShort("Y"), .long],
        help: ArgumentHelp("Stop transfers slower than this, in bytes per second.", valueName: "speed")
    )
    var speedLimit: ByteRate?

    @Option(
        name: [.customShort("y"), .long],
        help: ArgumentHelp("Time over which --speed-limit is measured. (default: 30)", valueName: "seconds")
    )
    var speedTime: Double?

    func validate() throws {
        if let speedTime, !(speedTime > 0 && speedTime <= 86_400) {
            throw ValidationError("'--speed-time' must be a number of seconds greater than 0 and at most 86400.")
        }
        if let limitRate, let speedLimit, limitRate.bytesPerSecond < speedLimit.bytesPerSecond {
            throw ValidationError("'--limit-rate' must not be below '--speed-limit'.")
        }
    }

    func apply(to options: inout TransferOptions) {
        if let rate = limitRate?.bytesPerSecond {
            options.bandwidth = TransferOptions.Bandwidth(receive: rate, send: rate)
        }
        guard speedLimit != nil || speedTime != nil else { return }
        // In curl, `--speed-time` alone means one byte per second.
        options.minimumSpeed = TransferOptions.MinimumSpeed(
            bytesPerSecond: speedLimit?.bytesPerSecond ?? 1,
            over: .seconds(speedTime ?? 30)
        )
    }
}

/// A number of bytes per second above zero, with an optional unit.
struct ByteRate: ExpressibleByArgument {
    let bytesPerSecond: Int

    init?(argument: String) {
        let units: [Character: Int] = ["k": 1 << 10, "m": 1 << 20, "g": 1 << 30]
        let unit = argument.last.flatMap { units[Character($0.lowercased())] }
        guard let count = Int(unit == nil ? argument[...] : argument.dropLast()), count > 0 else { return nil }
        let (product, overflow) = count.multipliedReportingOverflow(by: unit ?? 1)
        guard !overflow else { return nil }
        bytesPerSecond = product
    }
}
