// Re-exports everything that the seeds' code uses, so that one import is enough: publishers, URLSession and Relay's
// types.
@_exported public import BeagleNetGraphQL
@_exported public import BeagleNetURLSession
#if canImport(FoundationNetworking)
    @_exported public import FoundationNetworking
#endif
#if canImport(Combine)
    @_exported public import Combine
#else
    @_exported public import OpenCombine
    @_exported public import OpenCombineDispatch
#endif
