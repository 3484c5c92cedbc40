"""Tasks in Harbor's format: a folder each, which Harbor and whoever reads its format can run."""

from healthgym.integrations.harbor.export import HarborExport, export_harbor

__all__ = ["HarborExport", "export_harbor"]
