"""EHR data-quality auditing: errors planted in a hospital's tables are to be found."""
