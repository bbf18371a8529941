import ArgumentParser
import BeagleNetHTTP

/// How fast a transfer may go and how slow, spelled as curl's flags.
struct SpeedFlags: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "Move no more bytes a second than this; K, M and G stand for 1024 bytes and its powers.",
            valueName: "speed"
        )
    )
    var limitRate: ByteRate?

    @Option(
        name: [.customShort("Y"), .long],
        help: ArgumentHelp("Give up when a body moves fewer bytes a second than this.", valueName: "speed")
    )
    var speedLimit: ByteRate?

    @Option(
        name: [.customShort("y"), .long],
        help: ArgumentHelp("The time over which --speed-limit is measured; 30.", valueName: "seconds")
    )
    var speedTime: Double?

    func validate() throws {
        if let speedTime, !(speedTime > 0 && speedTime <= 86_400) {
            throw ValidationError("'--speed-time' takes a number of seconds above 0, 86400 at most.")
        }
        if let limitRate, let speedLimit, limitRate.bytesPerSecond < speedLimit.bytesPerSecond {
            throw ValidationError("'--limit-rate' is below '--speed-limit'.")
        }
    }

    func apply(to options: inout TransferOptions) {
        if let rate = limitRate?.bytesPerSecond { options.bandwidth = Bandwidth(receive: rate, send: rate) }
        guard speedLimit != nil || speedTime != nil else { return }
        // curl's --speed-time alone asks for one byte a second.
        options.minimumSpeed = MinimumSpeed(
            bytesPerSecond: speedLimit?.bytesPerSecond ?? 1,
            over: .seconds(speedTime ?? 30)
        )
    }
}

/// Bytes per second: a whole number above zero, perhaps with a unit behind it.
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
