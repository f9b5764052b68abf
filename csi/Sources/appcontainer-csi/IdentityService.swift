// The service Identity: what the driver is.

import CSIProtocol
import GRPCCore
import SwiftProtobuf
import Volumes

struct IdentityService: Csi_V1_Identity.SimpleServiceProtocol {
    func getPluginInfo(
        request: Csi_V1_GetPluginInfoRequest, context: ServerContext
    ) async throws -> Csi_V1_GetPluginInfoResponse {
        .with {
            $0.name = Driver.name
            $0.vendorVersion = VolumeStore.version
        }
    }

    func getPluginCapabilities(
        request: Csi_V1_GetPluginCapabilitiesRequest, context: ServerContext
    ) async throws -> Csi_V1_GetPluginCapabilitiesResponse {
        .with {
            $0.capabilities = [.controllerService, .volumeAccessibilityConstraints].map { type in
                .with { $0.service.type = type }
            }
        }
    }

    func probe(request: Csi_V1_ProbeRequest, context: ServerContext) async throws -> Csi_V1_ProbeResponse {
        // The services are there when the socket is.
        .with { $0.ready = .init(true) }
    }
}
