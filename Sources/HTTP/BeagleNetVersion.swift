/// The version of this package, sent in `User-Agent`.
public let beagleNetVersion = "0.1.0"
