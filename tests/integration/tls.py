"""Certificates of a test authority, and TLS in front of servers without it."""

from __future__ import annotations

import ipaddress
import socket
import ssl
import struct
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

_SSL_REQUEST = 80877103
_GSS_REQUEST = 80877104


class Authority:
    """An authority that signs certificates, valid for `days`; clients trust the file `ca`."""

    def __init__(self, folder: Path, name: str = "authority", days: float = 1) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._life = timedelta(days=days)
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        limit = x509.BasicConstraints(ca=True, path_length=0)
        use = x509.KeyUsage(
            digital_signature=True,
            content_commitment=False,
            key_encipherment=False,
            data_encipherment=False,
            key_agreement=False,
            key_cert_sign=True,
            crl_sign=True,
            encipher_only=False,
            decipher_only=False,
        )
        certificate = self._builder(self._name, self._key).add_extension(limit, True).add_extension(use, True)
        self._identifier = x509.SubjectKeyIdentifier.from_public_key(self._key.public_key())
        certificate = certificate.add_extension(self._identifier, False)
        self.ca = folder / f"{name}.pem"
        self.ca.write_bytes(
            certificate.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
        )

    def certificate(self, host: str) -> Path:
        """Returns a file with the key and certificate of a host, which is a name or an IP address."""
        key = ec.generate_private_key(ec.SECP256R1())
        builder = self._builder(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)]), key)
        builder = builder.add_extension(x509.SubjectAlternativeName([_general_name(host)]), False)
        return self._written(host, key, builder)

    def _written(self, name: str, key: ec.EllipticCurvePrivateKey, builder: x509.CertificateBuilder) -> Path:
        issuer = x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(self._identifier)
        signed = builder.add_extension(issuer, False).sign(self._key, hashes.SHA256())
        path = self._folder / f"{name}.key-and-certificate.pem"
        path.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
            + signed.public_bytes(serialization.Encoding.PEM)
        )
        return path

    def client(self, *common_names: str, names: Sequence[x509.GeneralName] = ()) -> Path:
        """Returns a file with the key and the certificate of a client."""
        key = ec.generate_private_key(ec.SECP256R1())
        attributes = [x509.NameAttribute(NameOID.COMMON_NAME, name) for name in common_names]
        builder = self._builder(x509.Name(attributes), key)
        if names:
            builder = builder.add_extension(x509.SubjectAlternativeName(names), False)
        return self._written(f"client-{x509.random_serial_number()}", key, builder)

    def _builder(self, name: x509.Name, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
        now = datetime.now(UTC)
        return (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(hours=1))
            .not_valid_after(now + self._life)
        )


def _general_name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


@contextmanager
def tls_in_front_of(port: int, certificate: Path, *, is_postgres: bool = False) -> Iterator[int]:
    """Runs a port that accepts only TLS and forwards to this one.

    PostgreSQL's clients first ask without TLS whether the server supports it.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        with suppress(OSError):
            while True:
                client, _ = listener.accept()
                threading.Thread(target=one, args=(client,), daemon=True).start()

    def one(client: socket.socket) -> None:
        with suppress(OSError), client:
            if is_postgres:
                _say_yes_to_tls(client)
            with (
                context.wrap_socket(client, server_side=True) as outside,
                socket.create_connection(("127.0.0.1", port)) as inside,
            ):
                threading.Thread(target=_pump, args=(inside, outside), daemon=True).start()
                _pump(outside, inside)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        # Closing alone would not end a pending `accept`.
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(10)


def _say_yes_to_tls(client: socket.socket) -> None:
    while True:
        [_, code] = struct.unpack("!II", client.recv(8, socket.MSG_WAITALL))
        if code == _SSL_REQUEST:
            client.sendall(b"S")
            return
        if code != _GSS_REQUEST:
            raise OSError("a client that speaks no TLS")
        client.sendall(b"N")


def _pump(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65_536):
            sink.sendall(data)
    for connection in (source, sink):
        with suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)
