//! A certificate authority that lives as long as a test, as companies have their own.
#![expect(clippy::unwrap_used)]

use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::PrivateKeyDer;

/// The authority, and the certificate that it gave to a server.
#[derive(Debug)]
pub struct Authority {
    issuer: String,
    server: Arc<rustls::ServerConfig>,
}

impl Authority {
    /// One that speaks for `hosts`: names or addresses.
    pub fn of(hosts: &[&str]) -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let names: Vec<String> = hosts.iter().map(|host| (*host).to_owned()).collect();
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(names).unwrap();
        let certificate = params.signed_by(&key, &issuer).unwrap();
        let key = PrivateKeyDer::Pkcs8(key.serialize_der().into());
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let server = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)
            .unwrap();
        Self {
            issuer: issuer.pem(),
            server: Arc::new(server),
        }
    }

    /// What a client that trusts it has in a file.
    pub fn pem(&self) -> &str {
        &self.issuer
    }

    pub(super) fn server(&self) -> Arc<rustls::ServerConfig> {
        Arc::clone(&self.server)
    }
}
