"""What managed_care.py needs besides the harness."""
