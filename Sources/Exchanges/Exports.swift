// One import provides everything that the seed's exchanges need: publishers, and the names of SwiftGraphQLClient.
@_exported public import BeagleNetCombine
#if canImport(Combine)
    @_exported public import Combine
#else
    @_exported public import OpenCombine
    @_exported public import OpenCombineDispatch
#endif
