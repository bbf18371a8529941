/// The version of this package, as `User-Agent` tells it.
public let beagleNetVersion = "0.1.0"
