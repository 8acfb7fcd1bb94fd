module museum

go 1.26
