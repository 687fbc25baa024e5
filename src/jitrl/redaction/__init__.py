"""Redaction: secrets and personal data become placeholders before anything is written."""
