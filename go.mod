module vjob

go 1.26.0
